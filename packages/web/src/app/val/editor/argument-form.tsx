import { useSignal, useSignalEffect } from "@preact/signals"
import type { CallParameter } from "../../../editor/type-service/protocol.ts"
import { Field } from "../../parts/forms/field.tsx"
import { toDocumentPath } from "../code/type-documents.tsx"
import { typeService } from "../code/type-service.ts"
import type { ValEditing } from "../code/val-editing.ts"
import {
  readArguments,
  readField,
  replaceArgument,
  replaceRest,
  toFieldText,
} from "./argument-values.ts"

const limits = { updateMs: 600, hintCharsMax: 120 }

interface ArgumentFormProps {
  /** The file that Run starts has the signature with the fields. */
  readonly editing: ValEditing
  /** The arguments: a JSON array, or one value. */
  readonly value: string
  readonly onChange: (text: string) => void
}

/**
 * The arguments of a run: a field for each parameter of the function, and all of them as JSON. The
 * JSON is what is sent, so that both always say the same. Until the types are loaded, and for code
 * without parameters, there is only the JSON.
 */
export function ArgumentForm({ editing, value, onChange }: ArgumentFormProps) {
  const parameters = useParameters(editing)
  return (
    <div class="argument-form">
      {parameters.map((parameter, index) => (
        <ArgumentField
          key={`${index} ${parameter.name} ${parameter.field.kind}`}
          parameter={parameter}
          index={index}
          value={value}
          onChange={onChange}
        />
      ))}
      <input
        class="input input-mono"
        aria-label="Arguments as JSON"
        placeholder='Arguments as JSON: [6, 3] or "one"'
        spellcheck={false}
        autocomplete="off"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {/* Without it, Enter does not send a form with several fields. */}
      <button type="submit" hidden>
        Run
      </button>
    </div>
  )
}

/** Asked for when the types change, and when the code has not been changed for a moment. */
function useParameters(editing: ValEditing): readonly CallParameter[] {
  const parameters = useSignal<readonly CallParameter[]>([])
  useSignalEffect(() => {
    // Not while it is rendered: typing must not render the form.
    const file = editing.files.started.value
    const text = file?.text.value ?? ""
    const path = toDocumentPath(editing, file?.path.value ?? "")
    let isOver = false
    const update = async () => {
      const found = await typeService.query(path, { toString: () => text }, "parameters", {})
      if (!isOver && found !== undefined) parameters.value = found ?? []
    }
    const timer = setTimeout(() => void update(), limits.updateMs)
    const unfollow = typeService.onChange(() => void update())
    return () => {
      isOver = true
      clearTimeout(timer)
      unfollow()
    }
  })
  return parameters.value
}

interface ArgumentFieldProps extends Pick<ArgumentFormProps, "value" | "onChange"> {
  readonly parameter: CallParameter
  readonly index: number
}

function ArgumentField({ parameter, index, value, onChange }: ArgumentFieldProps) {
  const { name, isOptional, isRest, documentation, type } = parameter
  const text = toFieldText(parameter, readArguments(value) ?? [], index)
  // Text that is not a value yet, such as half a number.
  const unfinished = useSignal<string | undefined>(undefined)
  const change = (changed: string) => {
    const read = readField(parameter, changed)
    unfinished.value = read.ok ? undefined : changed
    if (!read.ok) return
    const rest = Array.isArray(read.value) ? read.value : []
    onChange(isRest ? replaceRest(value, index, rest) : replaceArgument(value, index, read.value))
  }
  const hint = documentation === "" ? type : `${type}: ${documentation}`
  return (
    <Field
      label={`${isRest ? "…" : ""}${name}${isOptional ? " (optional)" : ""}`}
      hint={hint.slice(0, limits.hintCharsMax)}
    >
      {toControl(parameter, unfinished.value ?? text, unfinished.value !== undefined, change)}
    </Field>
  )
}

function toControl(
  { field }: CallParameter,
  text: string,
  isInvalid: boolean,
  change: (text: string) => void,
) {
  if (field.kind === "boolean" || field.kind === "choice") {
    const values = field.kind === "choice" ? field.values : [true, false]
    return (
      <select class="input" value={text} onChange={(event) => change(event.currentTarget.value)}>
        <option value="">–</option>
        {values.map((value) => (
          <option key={String(value)} value={String(value)}>
            {String(value)}
          </option>
        ))}
      </select>
    )
  }
  return (
    <input
      class={field.kind === "text" ? "input" : "input input-mono"}
      inputMode={field.kind === "number" ? "decimal" : "text"}
      autocomplete="off"
      spellcheck={false}
      aria-invalid={isInvalid}
      value={text}
      onInput={(event) => change(event.currentTarget.value)}
    />
  )
}
