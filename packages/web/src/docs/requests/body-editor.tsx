import { useSignal } from "@preact/signals"
import { useId } from "preact/hooks"
import { parseJson } from "../../ui/code/json.ts"
import { Tabs } from "../../ui/tabs.tsx"
import type { RequestBody } from "../operations/api.ts"
import { resolveSchema, type Schemas } from "../schemas/schema.ts"
import { SchemaInput } from "../schemas/schema-input.tsx"
import {
  type BodyDraft,
  type BodyMode,
  bodyModes,
  exampleFields,
  jsonContent,
  switchBodyMode,
  textContent,
  toBodyText,
} from "./body-draft.ts"

interface BodyEditorProps {
  readonly schemas: Schemas
  readonly body: RequestBody
  readonly draft: BodyDraft
  readonly onChange: (draft: BodyDraft) => void
}

const modeLabels: Readonly<Record<BodyMode, string>> = {
  fields: "Fields",
  json: "JSON",
  text: "Text",
}

/** The body: field by field, as JSON, or as plain text. */
export function BodyEditor({ schemas, body, draft, onChange }: BodyEditorProps) {
  const panelId = useId()
  const isTooRich = useSignal(false)
  const pick = (mode: BodyMode) => {
    const next = switchBodyMode(schemas, body, draft, mode)
    isTooRich.value = next === undefined
    if (next) onChange(next)
  }
  const fill = () => {
    const schema = jsonContent(body)?.schema
    const example =
      toBodyText(schemas, body, { ...draft, fields: {}, json: "", text: "" }, true)?.text ?? ""
    if (draft.mode === "fields" && schema)
      onChange({ ...draft, fields: exampleFields(schemas, schema) })
    else onChange(draft.mode === "json" ? { ...draft, json: example } : { ...draft, text: example })
  }
  return (
    <div class="body-editor">
      <div class="row wrap body-head">
        <span class="input-label">Body</span>
        <Tabs
          label="Type the body as"
          tabs={bodyModes(schemas, body).map((mode) => ({ id: mode, label: modeLabels[mode] }))}
          current={draft.mode}
          panelId={panelId}
          onPick={pick}
        />
        <button type="button" class="link-button" onClick={fill}>
          Fill in an example
        </button>
      </div>
      {isTooRich.value ? <p class="input-advice">The fields cannot hold all of this JSON</p> : null}
      <div id={panelId} role="tabpanel" aria-label={`Body as ${modeLabels[draft.mode]}`}>
        <BodyPanel schemas={schemas} body={body} draft={draft} onChange={onChange} />
      </div>
    </div>
  )
}

function BodyPanel({ schemas, body, draft, onChange }: BodyEditorProps) {
  if (draft.mode === "json") {
    const isBroken = draft.json.trim() !== "" && parseJson(draft.json) === undefined
    return (
      <>
        <BodyText
          value={draft.json}
          label="Body as JSON"
          onInput={(json) => onChange({ ...draft, json })}
        />
        {isBroken ? <p class="input-advice">This is not JSON; it is sent unchanged</p> : null}
      </>
    )
  }
  if (draft.mode === "text") {
    return (
      <BodyText
        value={draft.text}
        label={`Body as ${textContent(body)?.contentType}`}
        onInput={(text) => onChange({ ...draft, text })}
      />
    )
  }
  const content = jsonContent(body)
  const schema = content ? resolveSchema(schemas, content.schema).schema : {}
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, property]) => (
        <SchemaInput
          key={name}
          schemas={schemas}
          name={name}
          location="body"
          schema={property}
          isRequired={schema.required?.includes(name) ?? false}
          value={draft.fields[name] ?? ""}
          onInput={(text) => onChange({ ...draft, fields: { ...draft.fields, [name]: text } })}
        />
      ))}
    </>
  )
}

function BodyText(props: {
  readonly value: string
  readonly label: string
  readonly onInput: (text: string) => void
}) {
  return (
    <textarea
      class="input input-mono"
      rows={8}
      value={props.value}
      aria-label={props.label}
      spellcheck={false}
      autocapitalize="off"
      autocomplete="off"
      onInput={(event) => props.onInput(event.currentTarget.value)}
    />
  )
}
