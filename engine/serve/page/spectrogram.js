// A spectrogram that moves to the left, one column a frame, from 0 to 8 kHz.

const TOP = 8000; // Hz

const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

function rgb(name) {
  probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  probe.fillRect(0, 0, 1, 1);
  return probe.getImageData(0, 0, 1, 1).data;
}

export class Spectrogram {
  constructor(canvas, sound) {
    this.canvas = canvas;
    this.paint = canvas.getContext("2d", { willReadFrequently: true });
    this.analyser = sound.analyser;
    this.bins = new Uint8Array(this.analyser.frequencyBinCount);
    this.column = this.paint.createImageData(1, canvas.height);
    this.scheme = matchMedia("(prefers-color-scheme: dark)");
    this.begin = () => {
      const [low, mid, high] = ["--low", "--mid", "--high"].map(rgb);
      this.colours = Array.from({ length: 256 }, (_, i) => {
        const [from, to, share] = i < 110 ? [low, mid, i / 110] : [mid, high, (i - 110) / 145];
        return [0, 1, 2].map((k) => from[k] + (to[k] - from[k]) * share);
      });
      this.paint.fillStyle = `rgb(${low[0]}, ${low[1]}, ${low[2]})`;
      this.paint.fillRect(0, 0, canvas.width, canvas.height);
    };
    this.scheme.addEventListener("change", this.begin);
    this.begin();
  }

  draw() {
    const { width, height } = this.canvas;
    this.analyser.getByteFrequencyData(this.bins);
    const perRow = (TOP / (this.analyser.context.sampleRate / 2)) * this.bins.length / height;
    const { data } = this.column;
    for (let y = 0; y < height; y++) {
      const colour = this.colours[this.bins[Math.floor((height - 1 - y) * perRow)]];
      data.set(colour, 4 * y);
      data[4 * y + 3] = 255;
    }
    this.paint.drawImage(this.canvas, -1, 0);
    this.paint.putImageData(this.column, width - 1, 0);
  }

  close() {
    this.scheme.removeEventListener("change", this.begin);
  }
}
