import { useEffect, useRef } from "preact/hooks"
import { setTo } from "../../../ui/bind.ts"
import { type PaletteCommand, pageCommands } from "../../frame/command-palette-state.ts"
import { navigate } from "../../frame/location.ts"
import { reportFailure } from "../../parts/buttons/use-action.ts"
import { isWordWrapped, shouldFormatOnSave } from "../editor/editor-settings.ts"
import { listFileCommands } from "../files/use-file-commands.ts"
import { toHref } from "../to-href.ts"
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
    readonly editor: { readonly current: { openSearch(): void } | null }
  } & Pick<ValTabProps, "editing" | "draftMode" | "isOwn">,
): void {
  const latest = useRef(props)
  latest.current = props
  const { editing, draftMode, isOwn } = props
  const isWrapped = isWordWrapped.value
  const isDraft = draftMode.isOn.value
  const isFormattingOnSave = shouldFormatOnSave.value
  useEffect(() => {
    const go = (label: string, icon: PaletteCommand["icon"], part: string): PaletteCommand => ({
      label,
      icon,
      run: () => void navigate(toHref(editing, part)),
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
        run: setTo(shouldFormatOnSave, !isFormattingOnSave),
      },
      {
        label: isDraft ? "Turn draft mode off" : "Turn draft mode on",
        icon: "edit",
        run: () => void reportFailure(() => draftMode.turn(!isDraft)),
      },
    ]
    pageCommands.value = [
      { label: "Run", icon: "play", keys: "Ctrl Enter", run: () => void latest.current.start() },
      ...(isOwn ? own : []),
      ...listFileCommands(editing, isOwn),
      {
        label: "Find in the file",
        icon: "search",
        keys: "Ctrl F",
        run: () => latest.current.editor.current?.openSearch(),
      },
      {
        label: isWrapped ? "Stop wrapping lines" : "Wrap long lines",
        icon: "wrap",
        run: setTo(isWordWrapped, !isWrapped),
      },
      go("Readme of this val", "comment", "readme"),
      go("Versions of this val", "history", "versions"),
      go("Runs of this val", "play", "runs"),
      ...(isOwn ? [go("Settings of this val", "settings", "settings")] : []),
    ]
    return () => {
      pageCommands.value = []
    }
  }, [isOwn, editing, isFormattingOnSave, isWrapped, isDraft])
}
