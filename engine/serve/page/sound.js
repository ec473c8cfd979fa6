// What is sent and heard, as levels and spectra, for the page to look at.

export const FLOOR = -60; // dB, where meters begin

export class Sound {
  #samples = new Float32Array(2048);

  // Listens to `streams`, mixed. Nothing is played here.
  constructor(context, ...streams) {
    this.analyser = new AnalyserNode(context, { fftSize: 1024, smoothingTimeConstant: 0.3, minDecibels: -95, maxDecibels: -35 });
    this.sources = streams.map((stream) => context.createMediaStreamSource(stream));
    for (const source of this.sources) source.connect(this.analyser);
  }

  // dB below full scale, over the last 20 ms.
  level() {
    this.analyser.getFloatTimeDomainData(this.#samples);
    let power = 1e-12;
    for (const sample of this.#samples.subarray(0, 1024)) power += sample * sample / 1024;
    return 10 * Math.log10(power);
  }
}

// Shows a level in an element with role=meter; the number for screen readers changes seldom.
export class Meter {
  #spoken = 0;

  constructor(element) {
    this.element = element;
    this.bar = element.querySelector("i");
  }

  show(level, now) {
    const shown = Math.min(Math.max(level, FLOOR), 0);
    this.bar.style.transform = `scaleX(${(1 - shown / FLOOR).toFixed(3)})`;
    if (now - this.#spoken > 500) {
      this.#spoken = now;
      this.element.ariaValueNow = shown.toFixed(0);
      this.element.ariaValueText = shown === FLOOR ? "silent" : `${shown.toFixed(0)} decibels`;
    }
  }
}
