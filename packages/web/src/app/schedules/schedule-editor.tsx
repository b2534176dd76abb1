import { ApiError, type Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api } from "../api.ts"
import { explain } from "../data/explain.ts"
import { showDone } from "../frame/toast-list.ts"
import { LinkButton } from "../parts/buttons/link-button.tsx"
import { Field, Select } from "../parts/forms/field.tsx"
import { Form } from "../parts/forms/form.tsx"
import { Segments } from "../parts/forms/segments.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
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

/** Which file a schedule is of, as the API names it. */
export interface SchedulePlace {
  readonly file?: string
  readonly branch: string
}

/** Edits the schedule of a file; shows what the expression means while it is typed. */
export function ScheduleEditor(props: {
  readonly valId: string
  readonly place: SchedulePlace
  /** Undefined before the first one is saved. */
  readonly schedule: Schedule | undefined
  readonly onSaved: (schedule: Schedule) => void
}) {
  const { valId, place, schedule, onSaved } = props
  const draft = useSignal<Draft>(toDraft(schedule))
  const preview = useSchedulePreview(draft.value)
  const change = (changes: Partial<Draft>) => {
    draft.value = { ...draft.value, ...changes }
  }
  const save = async () => {
    const { overlap, catchUp } = draft.value
    const timing = toTimingInput(draft.value)
    onSaved(await api.putSchedule({ val_id: valId, ...place, ...timing, overlap, catchUp }))
    showDone("The schedule is saved")
  }
  const saved = schedule && toDraft(schedule)
  const isChanged = !saved || toKey(draft.value) !== toKey(saved)
  // The saved schedule counts from its due times, a new one from the moment when it is saved.
  const isSavedTiming = saved && toTimingKey(draft.value) === toTimingKey(saved)
  const nextAt = isSavedTiming && !schedule.isPaused ? schedule.nextAt : undefined
  return (
    <div class="beside">
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
            <NextTimes times={nextAt ?? preview.nextAt} timeZone={toShownZone(draft.value)} />
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
          { value: "every", label: "Every …" },
          { value: "cron", label: "Cron" },
        ]}
        value={kind}
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
        <p class="schedule-meaning" role="status" hidden={preview.kind === "invalid"}>
          {preview.kind === "valid" ? toSentence(preview.description) : null}
        </p>
        <p class="field-error" role="alert">
          {preview.kind === "invalid" ? preview.message : null}
        </p>
        <p class="wrap schedule-examples">
          <span class="quiet">For example:</span>
          {timingExamples[kind].map(({ label, text }) => (
            <LinkButton key={text} onClick={() => onChange({ [kind]: text })}>
              {label}
            </LinkButton>
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
  return JSON.stringify([toTimingKey(draft), draft.overlap, draft.catchUp])
}

function toTimingKey(draft: Draft): string {
  return JSON.stringify(toTimingInput(draft))
}

function toShownZone({ kind, timeZone }: Draft): string {
  return kind === "cron" ? timeZone : localTimeZone()
}

function toSentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** The next times of a schedule, in its time zone. */
function NextTimes({ times, timeZone }: { times: readonly string[]; timeZone: string }) {
  const day = new Intl.DateTimeFormat("en", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone,
  })
  const hasSeconds = times.some((at) => new Date(at).getUTCSeconds() !== 0)
  const clock = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    ...(hasSeconds ? { second: "2-digit" as const } : {}),
    // Shows when the clocks change.
    timeZoneName: "short",
    timeZone,
  })
  return (
    <ol class="next-times">
      {times.map((at) => (
        <li key={at}>
          <span class="next-time">{clock.format(new Date(at))}</span>
          <span>{day.format(new Date(at))}</span>
          <TimeAgo at={at} class="quiet" />
        </li>
      ))}
    </ol>
  )
}

/** The meaning of an expression, or why it has none. */
type Preview =
  | { readonly kind: "none" }
  | ({ readonly kind: "valid" } & Output<"previewSchedule">)
  | { readonly kind: "invalid"; readonly message: string }

const limits = { pauseMs: 200, aheadMsMax: 3_600_000 }

/** Explains an expression while it is typed. The last explanation stays until the next arrives. */
function useSchedulePreview(timing: Timing): Preview {
  const preview = useSignal<Preview>({ kind: "none" })
  const input = toTimingInput(timing)
  useEffect(() => {
    const controller = new AbortController()
    let timer: ReturnType<typeof setTimeout>
    const load = async () => {
      const next = await fetchPreview(input, controller.signal)
      if (controller.signal.aborted) return
      preview.value = next
      const [first] = next.kind === "valid" ? next.nextAt : []
      // When the first time has passed, the list begins with the next one.
      if (first !== undefined) {
        const ms = Date.parse(first) - Date.now() + limits.pauseMs
        timer = setTimeout(load, Math.min(Math.max(ms, 1_000), limits.aheadMsMax))
      }
    }
    timer = setTimeout(load, limits.pauseMs)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [JSON.stringify(input)])
  return preview.value
}

async function fetchPreview(
  input: ReturnType<typeof toTimingInput>,
  signal: AbortSignal,
): Promise<Preview> {
  if ((input.cron ?? input.every) === "") return { kind: "none" }
  try {
    return { kind: "valid", ...(await api.previewSchedule(input, { signal })) }
  } catch (error) {
    const issues = error instanceof ApiError ? error.issues : []
    const reasons = issues.map(({ message }) => `This ${message}`)
    return { kind: "invalid", message: reasons[0] ?? explain(error) }
  }
}
