import { route } from "../../route.ts"
import { page } from "../../schemas/records.ts"
import {
  telemetryLog,
  telemetryLogsQuery,
  trace,
  tracesQuery,
} from "../../schemas/runs/telemetry.ts"

/** Runs and logs in the form of OpenTelemetry. */
export const telemetryRoutes = {
  listTraces: route("Telemetry", "get /v1/telemetry/traces", {
    summary: "Runs on the caller's account as traces, within a span of time",
    scope: "run:read",
    query: tracesQuery,
    responses: { 200: page(trace) },
    errors: ["secret_key_missing"],
  }),
  listTelemetryLogs: route("Telemetry", "get /v1/telemetry/logs", {
    summary: "Log lines of runs on the caller's account, within a span of time or of some traces",
    scope: "run:read",
    query: telemetryLogsQuery,
    responses: { 200: page(telemetryLog) },
  }),
}
