import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"

const limits = { pauseMs: 150, charsMax: 512 }

/** A field that says what is looked for: not with every letter, but after a pause. */
export function SearchBox({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (text: string) => void
}) {
  const typed = useSignal(value)
  const told = useSignal(value)
  // The address has changed by other means: by a link, or by going back.
  if (value !== told.peek()) {
    told.value = value
    typed.value = value
  }
  useEffect(() => {
    const timer = setTimeout(() => {
      if (typed.peek() === told.peek()) return
      told.value = typed.peek()
      onChange(typed.peek())
    }, limits.pauseMs)
    return () => clearTimeout(timer)
  }, [typed.value])
  return (
    <input
      class="input"
      type="search"
      placeholder={label}
      aria-label={label}
      maxLength={limits.charsMax}
      autocomplete="off"
      spellcheck={false}
      value={typed.value}
      onInput={(event) => {
        typed.value = event.currentTarget.value
      }}
    />
  )
}
