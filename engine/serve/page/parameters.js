// Fields for the parameters of a method, made from what the server says of them.

const step = ({ low, high }) => (high - low > 20 ? 1 : 0.01);

function number(parameter, value, label) {
  const input = document.createElement("input");
  Object.assign(input, { type: "number", min: parameter.low, max: parameter.high, step: step(parameter), value: round(value) });
  input.ariaLabel = label;
  return input;
}

const round = (value) => Number(value.toFixed(4));

function field(parameter, value) {
  const box = document.createElement("div");
  box.className = "field";
  const title = document.createElement("p");
  title.textContent = `${parameter.name}${parameter.unit && ` (${parameter.unit})`}: ${parameter.meaning}`;
  box.append(title);
  if (parameter.choices) {
    const select = document.createElement("select");
    select.append(...parameter.choices.map((choice) => new Option(choice, choice, false, choice === value)));
    select.ariaLabel = parameter.name;
    box.append(select);
    return { box, value: () => select.value, valid: () => true };
  }
  if (!parameter.drawn) {
    const input = number(parameter, value, parameter.name);
    box.append(input);
    return { box, value: () => input.valueAsNumber, valid: () => input.checkValidity() && input.value !== "" };
  }
  const [from, to] = Array.isArray(value) ? value : [value, value];
  const low = number(parameter, from, `${parameter.name}, from`);
  const high = number(parameter, to, `${parameter.name}, to`);
  const pair = document.createElement("div");
  pair.className = "pair";
  pair.append(low, "to", high);
  box.append(pair);
  const valid = () => [low, high].every((i) => i.checkValidity() && i.value !== "") && low.valueAsNumber <= high.valueAsNumber;
  return { box, value: () => [low.valueAsNumber, high.valueAsNumber], valid };
}

// Fills `into`; `changed` gets the settings whenever all of them are valid.
export function show(into, method, settings, changed) {
  const fields = method.parameters.map((p) => [p.name, field(p, settings[p.name] ?? p.default)]);
  into.replaceChildren(...fields.map(([, { box }]) => box));
  into.onchange = () => {
    if (fields.every(([, f]) => f.valid())) changed(Object.fromEntries(fields.map(([name, f]) => [name, f.value()])));
  };
}
