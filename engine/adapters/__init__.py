"""The engine inside other people's pipelines: LiveKit, Pipecat, aiortc. Each module needs the extra of its name."""
