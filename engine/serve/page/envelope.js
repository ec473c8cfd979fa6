// In the audio thread: the energy of two inputs in blocks of 256 samples, sample-synchronous.

const BLOCK = 256;
const TOGETHER = 64; // blocks in a message, 0.34 s at 48 kHz

class Envelope extends AudioWorkletProcessor {
  #sums = [0, 0];
  #count = 0;
  #blocks = [[], []];

  process(inputs) {
    for (let side = 0; side < 2; side++) for (const sample of inputs[side][0] ?? []) this.#sums[side] += sample * sample;
    this.#count += 128;
    if (this.#count >= BLOCK) {
      for (let side = 0; side < 2; side++) this.#blocks[side].push(Math.sqrt(this.#sums[side] / this.#count));
      this.#sums = [0, 0];
      this.#count = 0;
    }
    if (this.#blocks[0].length >= TOGETHER) {
      this.port.postMessage({ blocks: this.#blocks, seconds: BLOCK / sampleRate });
      this.#blocks = [[], []];
    }
    return true;
  }
}

registerProcessor("envelope", Envelope);
