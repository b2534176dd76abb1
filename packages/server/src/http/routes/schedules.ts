import {
  deleteSchedule,
  getSchedule,
  previewSchedule,
  putSchedule,
} from "../../domain/schedules/schedules.ts"
import type { Handlers } from "../call.ts"
import type { Nouns } from "../nouns.ts"
import { json, noContent } from "../response/api-response.ts"
import { page } from "../response/page.ts"
import { toListedScheduleView, toPreviewView, toScheduleView } from "../response/schedule-view.ts"

/** Schedules of vals. */
export function scheduleHandlers({ schedules, api: { links } }: Nouns) {
  return {
    putSchedule: async ({ caller, params, body }) =>
      json(200, toScheduleView(await putSchedule(schedules, caller, params.val_id, body))),
    getSchedule: async ({ caller, params }) =>
      json(200, toScheduleView(await getSchedule(schedules, caller, params.val_id))),
    deleteSchedule: async ({ caller, params }) => {
      await deleteSchedule(schedules, caller, params.val_id)
      return noContent()
    },
    listMySchedules: async ({ caller, query, request }) =>
      page(
        links,
        request,
        query,
        await schedules.schedules.listOfOwner(caller.userId, query),
        toListedScheduleView,
      ),
    previewSchedule: async ({ query }) =>
      json(200, toPreviewView(previewSchedule(schedules, query))),
  } satisfies Partial<Handlers>
}
