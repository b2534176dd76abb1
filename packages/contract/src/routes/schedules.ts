import { route } from "../route.ts"
import { pageQuery, params } from "../schemas/inputs.ts"
import { page } from "../schemas/records.ts"
import {
  putScheduleBody,
  schedule,
  schedulePreview,
  schedulePreviewQuery,
} from "../schemas/schedules.ts"

/** Schedules of vals of type `interval`. */
export const scheduleRoutes = {
  putSchedule: route({
    method: "put",
    path: "/v1/vals/{val_id}/schedule",
    tag: "Schedules",
    summary: "Set when a val runs, or change it; fields that are absent keep their values",
    auth: "required",
    scope: "val:write",
    valAccess: "own",
    params: params.val,
    body: putScheduleBody,
    responses: { 200: schedule },
    errors: ["not_interval", "too_many_schedules"],
  }),
  getSchedule: route({
    method: "get",
    path: "/v1/vals/{val_id}/schedule",
    tag: "Schedules",
    summary: "When a val runs, and how its last runs ended",
    auth: "required",
    scope: "val:read",
    valAccess: "own",
    params: params.val,
    responses: { 200: schedule },
    errors: ["schedule_not_found"],
  }),
  deleteSchedule: route({
    method: "delete",
    path: "/v1/vals/{val_id}/schedule",
    tag: "Schedules",
    summary: "Delete the schedule of a val",
    auth: "required",
    scope: "val:write",
    valAccess: "own",
    params: params.val,
    responses: { 204: null },
    errors: ["schedule_not_found"],
  }),
  listMySchedules: route({
    method: "get",
    path: "/v1/me/schedules",
    tag: "Schedules",
    summary: "The schedules of the caller's vals, newest first",
    auth: "required",
    scope: "val:read",
    query: pageQuery,
    responses: { 200: page(schedule) },
  }),
  previewSchedule: route({
    method: "get",
    path: "/v1/schedules/preview",
    tag: "Schedules",
    summary: "A schedule in words, and when it would be due; nothing is saved",
    auth: "required",
    scope: "val:read",
    query: schedulePreviewQuery,
    responses: { 200: schedulePreview },
  }),
}
