"""`velavox serve`: a voice-chat page. Browsers send microphones by WebRTC, and hear anonymized voices alone.

What passes through, in this order: `doors` (connections), `guards` (who may ask), `signalling` (the routes), `offer` (is this
SDP one of ours), `rooms` and `load` (is there a place), `call` (one peer connection) with `control` (what the page may change).
In a call: `intake` (the microphone, its backlog bounded), `voice` (the engine), `opus` (encoded once, however many hear it),
`ear` (what one participant hears of another).
"""
