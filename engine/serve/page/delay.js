// Mouth to ear, measured: how much later the loudness of what is heard follows that of what is sent.

const KEPT = 8; // s
const LONGEST = 1.5; // s
const SURE = 0.5; // correlation from which a delay is believed

export class Delay {
  #sides = [[], []];
  #seconds = 0;

  static async of(context, sent, heard) {
    await context.audioWorklet.addModule("/page/envelope.js");
    const delay = new Delay();
    const node = new AudioWorkletNode(context, "envelope", { numberOfInputs: 2, numberOfOutputs: 0 });
    sent.connect(node, 0, 0);
    heard.connect(node, 0, 1);
    node.port.onmessage = ({ data }) => delay.#add(data);
    return delay;
  }

  #add({ blocks, seconds }) {
    this.#seconds = seconds;
    const most = Math.round(KEPT / seconds);
    this.#sides = this.#sides.map((side, i) => [...side, ...blocks[i]].slice(-most));
  }

  // ms, or null while nobody speaks.
  ms() {
    const [sent, heard] = this.#sides.map((side) => Float32Array.from(side));
    const most = Math.min(Math.round(LONGEST / (this.#seconds || 1)), sent.length >> 1);
    let [best, at] = [SURE, null];
    for (let lag = 0; lag < most; lag++) {
      const found = correlation(sent.subarray(0, sent.length - lag), heard.subarray(lag));
      if (found > best) [best, at] = [found, lag];
    }
    return at === null ? null : 1000 * at * this.#seconds;
  }
}

function correlation(a, b) {
  let [sa, sb, saa, sbb, sab] = [0, 0, 0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    sa += a[i];
    sb += b[i];
    saa += a[i] * a[i];
    sbb += b[i] * b[i];
    sab += a[i] * b[i];
  }
  const n = a.length;
  const spread = Math.sqrt((n * saa - sa * sa) * (n * sbb - sb * sb));
  return spread > 1e-9 ? (n * sab - sa * sb) / spread : 0;
}
