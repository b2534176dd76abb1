import { describe, expect, test } from "bun:test"
import { routeNames, scope } from "@hamlet/contract"
import { SMTPConnection } from "smtp-server/lib/smtp-connection"
import { mapEndpoints } from "../src/http/endpoints.ts"
import { listTools } from "../src/http/mcp/mcp-server.ts"
import { matchRoute } from "../src/http/request/match-route.ts"
import { endpointInputs } from "./freeze/doors/endpoints.ts"
import { toolInputs } from "./freeze/doors/mcp-tools.ts"
import { smtpLines } from "./freeze/doors/smtp.ts"
import { doorGroups } from "./freeze/doors.ts"
import { toSlug, worstDoors } from "./worst/worst-doors.ts"

const fetchNothing = () => Promise.reject(new Error("unused"))

/**
 * A way into the server needs a row in `freeze/doors/` with its worst input, which
 * `freeze/freeze.long.ts` sends. What has a type, such as the kinds of messages of a guest, does not
 * compile without one.
 */
describe("the table of doors", () => {
  test("has every tool of assistants", () => {
    const names = listTools(new Set(scope.options), false).map(({ name }) => name)
    expect(names.toSorted()).toEqual(Object.keys(toolInputs).toSorted())
  })

  test("has every endpoint outside of the route table", () => {
    const nouns = { clock: { now: Date.now }, api: { links: { baseUrl: "" }, rateLimits: {} } }
    const paths = [...mapEndpoints(nouns as never, {} as never, fetchNothing).keys()]
    expect(paths.toSorted()).toEqual(Object.keys(endpointInputs).toSorted())
    // A path of the table is not looked up among the endpoints.
    expect(paths.filter((path) => matchRoute(path))).toEqual([])
  })

  test("has every command of SMTP", () => {
    // The library calls the method of a connection that is named after the command.
    const methods = Object.getOwnPropertyNames(SMTPConnection.prototype)
    const commands = methods.flatMap((name) => name.match(/^handler_(\w+)$/)?.[1] ?? [])
    expect(commands).toContain("RCPT")
    expect(commands.toSorted()).toEqual(Object.keys(smtpLines).toSorted())
  })

  test("has a door for every route, and names each door once", () => {
    const names = Object.values(doorGroups)
      .flat()
      .map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    for (const route of routeNames)
      expect(names.some((name) => name.startsWith(`${route}: `))).toBe(true)
  })

  test("sends each door in every manner, by a word of its own", () => {
    const names = worstDoors.map(({ name }) => name)
    const isOfRoutes = (name: string) =>
      /^\w+: (?:body|bytes|page|plain|path|request \d+)$/.test(name)
    const others = Object.values(doorGroups)
      .flat()
      .flatMap(({ name }) => (isOfRoutes(name) ? [] : [name]))
    expect(others.filter((name) => !names.includes(name))).toEqual([])
    for (const route of routeNames)
      expect(names.some((name) => name.split(" ")[1] === route)).toBe(true)
    expect(new Set(names.map(toSlug)).size).toBe(names.length)
  })
})
