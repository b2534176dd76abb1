/**
 * A way in which a val could reveal a secret to readers of its runs. `secret` is the value, `token`
 * that of HAMLET_TOKEN.
 */
export interface SecretLeak {
  readonly tries: string
  /** The body of the val's function. */
  readonly code: string
}

const head = `const secret = Deno.env.get("TRICKY")\n  const token = Deno.env.get("HAMLET_TOKEN")\n  `

/**
 * With quotes, a backslash, a line break, markup, what a replacement would take for a command, and
 * letters beyond ASCII.
 */
export const trickySecret = 'tricky"\\s$&e<c>r\n\u2028é-4711'

export const secretLeaks: readonly SecretLeak[] = [
  { tries: "to log it", code: `console.log(secret, token)` },
  {
    tries: "to log it within an object",
    code: `console.error({ secret, token, deep: { array: [secret] } })`,
  },
  { tries: "to log it as JSON", code: `console.info(JSON.stringify({ secret, token }))` },
  {
    tries: "to log it with a format",
    code: `console.warn("%s and %o and %j", secret, token, { secret })`,
  },
  {
    tries: "to log it in the middle of a text",
    code: `console.debug("x".repeat(1000) + secret + token + "y")`,
  },
  {
    tries: "to log it as the name of a property",
    code: `console.log({ [secret]: 1, [token]: new Map([[secret, token]]) })`,
  },
  {
    tries: "to log an error with it",
    code: `console.log(new Error(secret, { cause: new Error(token) }))`,
  },
  { tries: "to log it in a table", code: `console.table([{ secret, token }])` },
  {
    tries: "to write it to standard output",
    code: `Deno.stdout.writeSync(new TextEncoder().encode(secret + token)); (await import("node:process")).stdout.write(secret + token)`,
  },
  {
    tries: "to log it a thousand times",
    code: `for (let index = 0; index < 1000; index++) console.log(secret + token)`,
  },
  {
    tries: "to log it after it has answered",
    code: `setTimeout(() => console.log(secret, token), 5)`,
  },
  { tries: "to throw it", code: `throw new Error(secret + token)` },
  { tries: "to throw it as it is", code: `throw secret + token` },
  {
    tries: "to throw an error that is called like it",
    code: `throw Object.assign(new Error("x"), { name: secret + token })`,
  },
  {
    tries: "to throw an error with it in the stack",
    code: `throw Object.assign(new Error("x"), { stack: "Error: " + secret + token + "\\n    at x" })`,
  },
  {
    tries: "to throw it as a cause",
    code: `throw new Error("x", { cause: new Error(secret + token) })`,
  },
  {
    tries: "to throw many errors with it",
    code: `throw new AggregateError([new Error(secret), new Error(token)], "many")`,
  },
  {
    tries: "to leave an error with it uncaught",
    code: `setTimeout(() => { throw new Error(secret + token) }, 1); await new Promise(() => {})`,
  },
  {
    tries: "to reject with it",
    code: `Promise.reject(secret + token); await new Promise(() => {})`,
  },
  { tries: "to return it", code: `return secret + token` },
  {
    tries: "to return it within an object",
    code: `return { secret, token, deep: [[{ secret }]], [secret]: token }`,
  },
  {
    tries: "to return a response with it",
    code: `return new Response(secret + token, { headers: { "x-secret": token } })`,
  },
  {
    tries: "to return it as JSON within text",
    code: `return JSON.stringify(JSON.stringify({ secret, token }))`,
  },
  {
    tries: "to return it in a map, a set, a URL and a date that is none",
    code: `return [new Map([[secret, token]]), new Set([secret]), new URL("http://x/?" + new URLSearchParams({ token })), { toJSON: () => secret }]`,
  },
]

/** A module whose default export does the leak with a number. */
export function toLeakingModule(leaks: readonly SecretLeak[]): string {
  const functions = leaks.map(({ code }) => `async () => {\n  ${head}${code}\n}`)
  return `const leaks = [${functions.join(", ")}]\nexport default (index) => leaks[index]()\n`
}
