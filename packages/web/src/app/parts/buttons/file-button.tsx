import { useRef } from "preact/hooks"
import type { IconName } from "../../../ui/icon.tsx"
import { Button } from "./button.tsx"

/** A button that lets the user choose files. The same ones can be chosen again. */
export function FileButton(props: {
  /** The accessible name of the field behind it. */
  readonly label: string
  readonly takes: { accept?: string; multiple?: boolean; webkitdirectory?: boolean }
  readonly kind?: string
  readonly icon?: IconName
  readonly disabled: boolean
  readonly onPick: (files: readonly File[]) => unknown
  readonly children: string
}) {
  const { label, takes, onPick, ...button } = props
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        {...takes}
        ref={input}
        class="visually-hidden"
        type="file"
        tabIndex={-1}
        aria-label={label}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])]
          event.currentTarget.value = ""
          if (files.length > 0) onPick(files)
        }}
      />
      <Button {...button} onClick={() => input.current?.click()} />
    </>
  )
}
