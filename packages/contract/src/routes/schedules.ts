import { route } from "../route.ts"
import { pageQuery, placeQuery } from "../schemas/inputs.ts"
import { page } from "../schemas/records.ts"
import {
  putScheduleBody,
  schedule,
  schedulePreview,
  schedulePreviewQuery,
} from "../schemas/schedules.ts"

/** Schedules of files of type `interval`; by default of the entry file of `main`. */
export const scheduleRoutes = {
  putSchedule: route("Schedules", "put /v1/vals/{val_id}/schedule", {
    summary:
      "Set when a val, or a file of it, runs, or change it; fields that are absent keep their values",
    scope: "val:write",
    valAccess: "own",
    query: placeQuery,
    body: putScheduleBody,
    responses: { 200: schedule },
    errors: ["branch_not_found", "file_not_found", "not_interval", "too_many_schedules"],
  }),
  getSchedule: route("Schedules", "get /v1/vals/{val_id}/schedule", {
    summary: "When a val, or a file of it, runs, and how its last runs ended",
    scope: "val:read",
    valAccess: "own",
    query: placeQuery,
    responses: { 200: schedule },
    errors: ["schedule_not_found"],
  }),
  deleteSchedule: route("Schedules", "delete /v1/vals/{val_id}/schedule", {
    summary: "Delete the schedule of a val, or of a file of it",
    scope: "val:write",
    valAccess: "own",
    query: placeQuery,
    responses: { 204: null },
    errors: ["schedule_not_found"],
  }),
  listMySchedules: route("Schedules", "get /v1/me/schedules", {
    summary: "The schedules of the caller's vals, newest first",
    scope: "val:read",
    query: pageQuery,
    responses: { 200: page(schedule) },
  }),
  previewSchedule: route("Schedules", "get /v1/schedules/preview", {
    summary: "A schedule in words, and when it would be due; nothing is saved",
    scope: "val:read",
    query: schedulePreviewQuery,
    responses: { 200: schedulePreview },
  }),
}
