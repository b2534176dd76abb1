import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { bindText } from "../../ui/bind.ts"

const limits = { pauseMs: 150, charsMax: 512 }

/** A search field that reports its text after a pause, not with every letter. */
export function SearchBox(props: {
  readonly label: string
  /** By default the label. */
  readonly placeholder?: string
  readonly charsMax?: number
  readonly value: string
  readonly onChange: (text: string) => void
}) {
  const { label, placeholder = label, charsMax = limits.charsMax, value, onChange } = props
  const typed = useSignal(value)
  const reported = useSignal(value)
  // The address has changed by a link or through the history.
  if (value !== reported.peek()) {
    reported.value = value
    typed.value = value
  }
  useEffect(() => {
    const timer = setTimeout(() => {
      if (typed.peek() === reported.peek()) return
      reported.value = typed.peek()
      onChange(typed.peek())
    }, limits.pauseMs)
    return () => clearTimeout(timer)
  }, [typed.value])
  return (
    <input
      class="input"
      type="search"
      placeholder={placeholder}
      aria-label={label}
      maxLength={charsMax}
      autocomplete="off"
      spellcheck={false}
      {...bindText(typed)}
    />
  )
}
