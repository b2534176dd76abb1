import type { Signal } from "@preact/signals"

type InputEventOf = Event & { readonly currentTarget: { readonly value: string } }

/** The properties of a text field that shows a signal and writes to it. */
export function bindText(text: Signal<string>) {
  return {
    value: text.value,
    onInput: (event: InputEventOf) => {
      text.value = event.currentTarget.value
    },
  }
}

/** The properties of a choice that shows a signal and writes to it. */
export function bindChoice<Value>(chosen: Signal<Value>) {
  return {
    value: chosen.value,
    onChange: (value: Value) => {
      chosen.value = value
    },
  }
}

/** A listener that sets a signal. */
export function setTo<Value>(target: Signal<Value>, value: Value): () => void {
  return () => {
    target.value = value
  }
}
