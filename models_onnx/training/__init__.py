"""From recorded speech to the graphs of the neural voice: `python -m velavox.models_onnx.training --help`.

In order, each step resumable and repeatable from a seed, all in one working folder:

    index      utterances of a manifest or of a LibriSpeech, LibriTTS or VCTK folder   -> index.csv
    transcribe words for utterances that have none (Whisper base)                      -> transcripts.csv
    synth      speech of many synthetic voices, English and Mandarin (Kokoro)          -> synth/
    align      when each phone and each third of it is spoken (pocketsphinx)           -> labels/
    pack       log mel features and targets, clean and in noise, rooms, codecs         -> packs/
    student    the streaming phone recogniser                                          -> student/
    evaluate   its accuracy on speakers it has not heard
    leak       how well an attacker tells speakers apart by what it puts out
    targets    what the decoder shall say: parameters of the vocoder, of clean speech  -> targets/
    decoder    from content, prosody and a voice to these                              -> hearing/, voices/, decoder/
    recogniser the streaming recogniser that listens for listed words                  -> recogniser/
    export     step graphs of the best checkpoints, checked against the networks       -> models_onnx/
    score      phones that the exported recogniser gets wrong, of speakers it has not heard
"""
