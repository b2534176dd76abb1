import { ApiError, type Output } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api } from "../api.ts"
import { explain } from "../data/explain.ts"
import { type Timing, toTimingInput } from "./timing.ts"

/** The meaning of an expression, or why it has none. */
export type Preview =
  | { readonly kind: "none" }
  | ({ readonly kind: "valid" } & Output<"previewSchedule">)
  | { readonly kind: "invalid"; readonly message: string }

const limits = { pauseMs: 200, aheadMsMax: 3_600_000 }

/** Explains an expression while it is typed. The last explanation stays until the next arrives. */
export function useSchedulePreview(timing: Timing): Preview {
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
