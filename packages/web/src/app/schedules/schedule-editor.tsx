import { useSignal } from "@preact/signals"
import { api } from "../api.ts"
import { showDone } from "../frame/toast-list.ts"
import { Field, Select } from "../parts/field.tsx"
import { Form } from "../parts/form.tsx"
import { Segments } from "../parts/segments.tsx"
import { NextTimes } from "./next-times.tsx"
import { type Preview, useSchedulePreview } from "./schedule-preview.ts"
import {
  firstTiming,
  listTimeZones,
  localTimeZone,
  type Schedule,
  type Timing,
  timingExamples,
  toTimingInput,
} from "./timing.ts"

type Draft = Timing & Pick<Schedule, "overlap" | "catchUp">

const overlaps = [
  { value: "skip", label: "Skip it" },
  { value: "queue", label: "Start it when the last run has ended" },
  { value: "allow", label: "Run both at the same time" },
] as const

const catchUps = [
  { value: "none", label: "Skip them" },
  { value: "one", label: "Run once when the server is back" },
] as const

/** Edits the schedule of a val; shows what the expression means while it is typed. */
export function ScheduleEditor(props: {
  readonly valId: string
  /** Undefined before the first one is saved. */
  readonly schedule: Schedule | undefined
  readonly onSaved: (schedule: Schedule) => void
}) {
  const { valId, schedule, onSaved } = props
  const draft = useSignal<Draft>(toDraft(schedule))
  const preview = useSchedulePreview(draft.value)
  const change = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes }
  }
  const save = async () => {
    const { overlap, catchUp } = draft.value
    const timing = toTimingInput(draft.value)
    onSaved(await api.putSchedule({ val_id: valId, ...timing, overlap, catchUp }))
    showDone("The schedule is saved")
  }
  const isChanged = !schedule || toKey(draft.value) !== toKey(toDraft(schedule))
  return (
    <div class="schedule">
      <Form
        onSubmit={save}
        label="Save the schedule"
        isReady={isChanged && preview.kind === "valid"}
      >
        <TimingFields draft={draft.value} preview={preview} onChange={change} />
        <Select
          label="A run is due while the last one is still running"
          value={draft.value.overlap}
          choices={overlaps}
          onChange={(overlap) => change({ overlap })}
        />
        <Select
          label="Runs were due while the server was off"
          value={draft.value.catchUp}
          choices={catchUps}
          onChange={(catchUp) => change({ catchUp })}
        />
      </Form>
      <section class="schedule-next" aria-labelledby="schedule-next">
        <h2 id="schedule-next">The next times</h2>
        {preview.kind === "valid" ? (
          <>
            {preview.nextAt.length === 0 ? <p class="quiet">It is never due again.</p> : null}
            <NextTimes times={preview.nextAt} timeZone={toShownZone(draft.value)} />
          </>
        ) : (
          <p class="quiet">They appear here while you type.</p>
        )}
      </section>
    </div>
  )
}

function TimingFields(props: {
  readonly draft: Draft
  readonly preview: Preview
  readonly onChange: (changes: Partial<Draft>) => void
}) {
  const { draft, preview, onChange } = props
  const { kind } = draft
  return (
    <>
      <Segments
        label="Kind of schedule"
        choices={[
          { name: "every", label: "Every …" },
          { name: "cron", label: "Cron" },
        ]}
        current={kind}
        onChange={(kind) => onChange({ kind })}
      />
      <div class="field">
        <Field
          label={kind === "cron" ? "Cron expression" : "Every"}
          hint={
            kind === "cron"
              ? "Minute, hour, day, month, weekday. A sixth field in front is for seconds."
              : "A number and a unit: 30s, 15m, 2h, 1d."
          }
        >
          <input
            class="input input-mono"
            required
            autocomplete="off"
            spellcheck={false}
            aria-invalid={preview.kind === "invalid"}
            value={draft[kind]}
            onInput={(event) => onChange({ [kind]: event.currentTarget.value })}
          />
        </Field>
        <p class="schedule-meaning" role="status">
          {preview.kind === "valid" ? toSentence(preview.description) : null}
        </p>
        <p class="field-error" role="alert">
          {preview.kind === "invalid" ? preview.message : null}
        </p>
        <p class="schedule-examples">
          <span class="quiet">For example:</span>
          {timingExamples[kind].map(({ label, text }) => (
            <button
              key={text}
              type="button"
              class="link-button"
              onClick={() => onChange({ [kind]: text })}
            >
              {label}
            </button>
          ))}
        </p>
      </div>
      {kind === "cron" ? (
        <Select
          label="Time zone"
          value={draft.timeZone}
          choices={listTimeZones(draft.timeZone)}
          onChange={(timeZone) => onChange({ timeZone })}
        />
      ) : null}
    </>
  )
}

function toDraft(schedule: Schedule | undefined): Draft {
  if (!schedule) return { ...firstTiming, overlap: "skip", catchUp: "none" }
  const { cron, every, timeZone, overlap, catchUp } = schedule
  return {
    kind: cron === null ? "every" : "cron",
    cron: cron ?? firstTiming.cron,
    every: every ?? firstTiming.every,
    timeZone: cron === null ? firstTiming.timeZone : timeZone,
    overlap,
    catchUp,
  }
}

/** Drafts that save the same have the same key. */
function toKey(draft: Draft): string {
  return JSON.stringify([toTimingInput(draft), draft.overlap, draft.catchUp])
}

function toShownZone({ kind, timeZone }: Draft): string {
  return kind === "cron" ? timeZone : localTimeZone()
}

function toSentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
