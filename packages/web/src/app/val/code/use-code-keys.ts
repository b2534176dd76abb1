import { useEffect, useRef } from "preact/hooks"
import { type PaletteCommand, pageCommands } from "../../frame/command-palette-state.ts"
import { navigate } from "../../frame/location.ts"
import { setFormatOnSave, shouldFormatOnSave } from "../editor/format-on-save.ts"
import { listFileCommands } from "../files/use-file-commands.ts"
import type { ValTabProps } from "../val-tab-props.ts"
import { useControlKeys } from "./use-control-keys.ts"

interface CodeActions {
  save(): Promise<void>
  start(): Promise<void>
}

/** Makes the shortcuts of the editor work on the whole page. */
export function useCodeKeys({ save, start }: CodeActions): void {
  useControlKeys({ s: save, enter: start })
}

/** Adds the commands of the code to the palette. */
export function useCodeCommands(
  props: CodeActions & {
    format(): Promise<void>
    readonly editing: ValTabProps["editing"]
    readonly isOwn: boolean
    readonly base: string
  },
): void {
  const latest = useRef(props)
  latest.current = props
  const { editing, isOwn, base } = props
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
      ...listFileCommands(editing, isOwn),
      go("Readme of this val", "comment", "readme"),
      go("Versions of this val", "history", "versions"),
      go("Runs of this val", "play", "runs"),
      ...(isOwn ? [go("Settings of this val", "settings", "settings")] : []),
    ]
    return () => {
      pageCommands.value = []
    }
  }, [editing, isOwn, base, isFormattingOnSave])
}
