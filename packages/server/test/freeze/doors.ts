import type { Door } from "./door.ts"
import { egressDoors } from "./doors/egress.ts"
import { endpointDoors } from "./doors/endpoints.ts"
import { framedPageDoors } from "./doors/framed-pages.ts"
import { guestDoors } from "./doors/guest.ts"
import { toolDoors } from "./doors/mcp-tools.ts"
import { metricsPortDoors } from "./doors/metrics-port.ts"
import { libsqlDoors, outsideDoors } from "./doors/outside.ts"
import { pieceDoors } from "./doors/pieces.ts"
import { programDoors } from "./doors/programs.ts"
import { responseDoors } from "./doors/responses.ts"
import { routeDoors } from "./doors/routes.ts"
import { smtpDoors } from "./doors/smtp.ts"

const mails = smtpDoors.filter(({ name }) => !name.startsWith("SMTP"))

/**
 * Every way into the server, with its worst input. Routes, tools, endpoints, commands and messages
 * are those of the code: one without a row does not compile, or fails `doors.test.ts`.
 */
export const doorGroups: Readonly<Record<string, readonly Door[]>> = {
  // In parts, since they are many.
  "bodies of routes": routeDoors.filter(({ name }) => name.endsWith(": body")),
  "pages of routes": routeDoors.filter(({ name }) => name.endsWith(": page")),
  "paths of routes": routeDoors.filter(({ name }) => name.endsWith(": path")),
  "other requests": routeDoors.filter(({ name }) => !/: (?:body|page|path)$/.test(name)),
  endpoints: endpointDoors,
  "tools of assistants": toolDoors,
  "messages of guests": guestDoors,
  "texts of programs": programDoors,
  "requests of vals": egressDoors,
  "commands of mail": smtpDoors.filter(({ name }) => name.startsWith("SMTP")),
  mails: mails.slice(0, mails.length / 2),
  "more mails": mails.slice(mails.length / 2),
  "small pieces": pieceDoors,
  "sockets and answers": outsideDoors,
  "requests for metrics": metricsPortDoors,
  "pages in the app": framedPageDoors,
  "large responses": responseDoors,
  "answers of a libSQL server": libsqlDoors,
}

/** Requests that do not reach the database, or only with a run, as `createRun` does too. */
const isWithoutDatabase = /^(?:callVal|evalCode|formatCode|previewSchedule|createChatCompletion)/

/** The doors behind which the database does the work, or that need several nodes. */
export const databaseDoors: readonly Door[] = [
  ...routeDoors.filter(
    ({ name }) => /: (?:page|request \d+)$/.test(name) && !isWithoutDatabase.test(name),
  ),
  ...libsqlDoors,
  ...responseDoors,
]

/** The names of doors that need a libSQL server. */
export const libsqlDoorNames: ReadonlySet<string> = new Set(libsqlDoors.map(({ name }) => name))
