import { ApiError } from "@hamlet/contract/client"
import { type Signal, useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { api } from "../../api.ts"
import { navigate } from "../../frame/location.ts"
import { showDone } from "../../frame/toast-list.ts"
import { Field, Select } from "../../parts/forms/field.tsx"
import { FormDialog } from "../../parts/forms/form-dialog.tsx"
import { canChange } from "../../session/owners.ts"
import { hasBody, methods } from "../../val/preview/methods.ts"
import type { RunDetail } from "../followed-run.ts"
import {
  FieldError,
  hasCredentials,
  type ReplayFields,
  type ReplayForm,
  toReplayChanges,
  toReplayForm,
} from "./replay-form.ts"

type Problems = Readonly<Partial<Record<keyof ReplayFields, string>>>

interface PartProps {
  readonly form: ReplayForm
  readonly fields: Signal<ReplayFields>
  readonly problems: Problems
}

/** Runs a run again with other input, or in another version. */
export function ReplayDialog(props: { readonly run: RunDetail; readonly onClose: () => void }) {
  const { run, onClose } = props
  const isOwner = canChange(run.val)
  // What was recorded when the dialog was opened.
  const form = useMemo(() => toReplayForm(run, isOwner), [])
  const fields = useSignal(form.fields)
  const problems = useSignal<Problems>({})
  const submit = async () => {
    problems.value = {}
    try {
      const changes = toReplayChanges(form, fields.value)
      // Credentials are not stored, so a run that waits cannot have them.
      const respondAsync = !hasCredentials(changes)
      const { id } = await api.replayRun({ run_id: run.id, ...changes }, { respondAsync })
      onClose()
      navigate(`/runs/${id}`)
      showDone("Replayed with changes")
    } catch (error) {
      problems.value = toProblems(error)
      if (Object.keys(problems.value).length === 0) throw error
    }
  }
  const part = { form, fields, problems: problems.value }
  return (
    <FormDialog
      title="Replay with changes"
      size="wide"
      onClose={onClose}
      onSubmit={submit}
      label="Replay"
      busyLabel="Replaying…"
    >
      {form.kind === "request" ? <RequestPart {...part} /> : null}
      {form.kind === "args" ? <Area {...part} name="args" label="Arguments" rows={8} /> : null}
      {form.kind === "version" ? (
        <p>The input comes from the schedule or the mail, and is used again as it was.</p>
      ) : null}
      <Field label="Version" hint={form.hints.version} error={problems.value.version}>
        <input
          class="input replay-version"
          inputMode="numeric"
          autocomplete="off"
          {...bind(fields, "version")}
        />
      </Field>
    </FormDialog>
  )
}

function RequestPart(props: PartProps) {
  const { form, fields, problems } = props
  const { method } = fields.value
  const choices = [...new Set([form.fields.method, ...methods])]
  return (
    <>
      <div class="replay-line">
        <Select
          label="Method"
          value={method}
          choices={choices.map((value) => ({ value, label: value }))}
          onChange={(value) => {
            fields.value = { ...fields.value, method: value }
          }}
        />
        <Field label="Path" error={problems.path ?? problems.method}>
          <input
            class="input input-mono"
            autocomplete="off"
            spellcheck={false}
            {...bind(fields, "path")}
          />
        </Field>
      </div>
      <Area {...props} name="headers" label="Headers, one per line" rows={5} />
      {hasBody({ method }) ? <Area {...props} name="body" label="Body" rows={6} /> : null}
    </>
  )
}

function Area(
  props: PartProps & {
    readonly name: "args" | "headers" | "body"
    readonly label: string
    readonly rows: number
  },
) {
  const { form, fields, problems, name, label, rows } = props
  return (
    <Field label={label} hint={form.hints[name]} error={problems[name]}>
      <textarea class="input input-mono" spellcheck={false} rows={rows} {...bind(fields, name)} />
    </Field>
  )
}

function bind(fields: Signal<ReplayFields>, name: keyof ReplayFields) {
  return {
    value: fields.value[name],
    onInput: (event: Event & { readonly currentTarget: { readonly value: string } }) => {
      fields.value = { ...fields.value, [name]: event.currentTarget.value }
    },
  }
}

/** The problems by field; none if the failure is not about a field. */
function toProblems(error: unknown): Problems {
  if (error instanceof FieldError) return { [error.field]: error.message }
  if (!(error instanceof ApiError)) return {}
  if (error.code === "version_not_found") return { version: error.message }
  const issues = (error.issues ?? []).map(({ path, message }) => [
    path.split(".")[0] ?? "",
    `This ${message}`,
  ])
  const names = ["method", "path", "headers", "body", "args", "version"]
  return issues.every(([name = ""]) => names.includes(name)) ? Object.fromEntries(issues) : {}
}
