import { limits, schedule } from "@hamlet/contract"
import { describeTiming } from "../../domain/schedules/describe-timing.ts"
import { failureLimits } from "../../domain/schedules/failures.ts"
import { findPause, listDueTimes, type Schedule } from "../../domain/schedules/schedules.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { done, json } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { createView, toTimeText } from "../response/view.ts"
import { toMentionView } from "../response/views.ts"

const { scheduleTimesMax: timesMax } = limits

/** Schedules of vals. */
export function scheduleHandlers({ schedules, api: { links } }: Nouns) {
  return {
    putSchedule: async ({ caller, params, body }) =>
      json(200, toScheduleView(await schedules.put(caller, params.val_id, body), timesMax)),
    getSchedule: async ({ caller, params }) =>
      json(200, toScheduleView(await schedules.get(caller, params.val_id), timesMax)),
    deleteSchedule: done(({ caller, params }) => schedules.delete(caller, params.val_id)),
    listMySchedules: async (call) =>
      // Computing ten times for each of a hundred takes too long.
      page(links, call, await schedules.list(call.caller, call.query), (it) =>
        toScheduleView(it, 1),
      ),
    previewSchedule: async ({ query }) => {
      const { description, nextAt } = schedules.preview(query)
      return json(200, { description, nextAt: nextAt.map((at) => toTimeText(at)) })
    },
  } satisfies Partial<Handlers>
}

const toScheduleView = createView(schedule, (it: Schedule, timesMax: number) => {
  const pause = findPause(it)
  return {
    val: toMentionView(it.val),
    cron: it.timing.cron,
    every: it.timing.every,
    timeZone: it.timing.timeZone,
    isPaused: pause !== undefined,
    pausedReason: pause?.reason ?? null,
    description: describeTiming(it.timing),
    nextAt: listDueTimes(it, timesMax).map((at) => toTimeText(at)),
    isFailing: it.failureCount >= failureLimits.failingAfter,
  }
})
