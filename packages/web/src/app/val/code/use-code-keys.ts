import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { type PaletteCommand, pageCommands } from "../../frame/command-palette-state.ts"
import { navigate } from "../../frame/location.ts"
import { setFormatOnSave, shouldFormatOnSave } from "../editor/format-on-save.ts"

interface CodeActions {
  save(): Promise<void>
  start(): Promise<void>
}

/** Makes the shortcuts of the editor work on the whole page. */
export function useCodeKeys(actions: CodeActions): void {
  const latest = useRef(actions)
  latest.current = actions
  // Before the page is seen: a key that is pressed then is not lost.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isOurs = (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
      const action = { s: latest.current.save, enter: latest.current.start }[
        event.key.toLowerCase()
      ]
      if (!isOurs || !action || event.defaultPrevented || document.querySelector("dialog[open]"))
        return
      event.preventDefault()
      void action()
    }
    addEventListener("keydown", onKeyDown)
    return () => removeEventListener("keydown", onKeyDown)
  }, [])
}

/** Adds the commands of the code to the palette. */
export function useCodeCommands(
  props: CodeActions & {
    format(): Promise<void>
    readonly isOwn: boolean
    readonly base: string
  },
): void {
  const latest = useRef(props)
  latest.current = props
  const { isOwn, base } = props
  const isFormattingOnSave = shouldFormatOnSave.value
  useEffect(() => {
    const go = (label: string, icon: PaletteCommand["icon"], part: string): PaletteCommand => ({
      label,
      icon,
      run: () => void navigate(`${base}/${part}`),
    })
    const own: readonly PaletteCommand[] = [
      { label: "Save", icon: "save", keys: "Ctrl S", run: () => void latest.current.save() },
      {
        label: "Format the code",
        icon: "script",
        keys: "Shift Alt F",
        run: () => void latest.current.format(),
      },
      {
        label: isFormattingOnSave ? "Stop formatting on save" : "Format on save",
        icon: "save",
        run: () => setFormatOnSave(!isFormattingOnSave),
      },
    ]
    pageCommands.value = [
      { label: "Run", icon: "play", keys: "Ctrl Enter", run: () => void latest.current.start() },
      ...(isOwn ? own : []),
      go("Readme of this val", "comment", "readme"),
      go("Versions of this val", "history", "versions"),
      go("Runs of this val", "play", "runs"),
      ...(isOwn ? [go("Settings of this val", "settings", "settings")] : []),
    ]
    return () => {
      pageCommands.value = []
    }
  }, [isOwn, base, isFormattingOnSave])
}
