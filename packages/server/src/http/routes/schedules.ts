import { limits, type placeQuery, schedule } from "@hamlet/contract"
import type { z } from "zod"
import { describeTiming } from "../../domain/schedules/describe-timing.ts"
import { failureLimits } from "../../domain/schedules/failures.ts"
import {
  findPause,
  listDueTimes,
  type Schedule,
  type SchedulePlace,
} from "../../domain/schedules/schedules.ts"
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
    putSchedule: async ({ caller, params, query, body }) => {
      const put = await schedules.put(caller, params.val_id, toPlace(query), body)
      return json(200, toScheduleView(put, timesMax))
    },
    getSchedule: async ({ caller, params, query }) => {
      const found = await schedules.get(caller, params.val_id, toPlace(query))
      return json(200, toScheduleView(found, timesMax))
    },
    deleteSchedule: done(({ caller, params, query }) =>
      schedules.delete(caller, params.val_id, toPlace(query)),
    ),
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

/** The file that a query names. */
function toPlace({ file, branch }: z.infer<typeof placeQuery>): SchedulePlace {
  return { path: file, branch }
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
