/** The first code of a val, and of a file that something starts. */
export const starts = {
  http: `export default function (request: Request): Response {\n  return new Response("Hello")\n}\n`,
  script: `export default function () {\n  console.log("Hello")\n  return 42\n}\n`,
  interval: `export default function (interval: Interval) {
  console.log("last run at", interval.lastRunAt)
}
`,
  email: `export default function (email: Email) {
  console.log(email.from, "wrote", email.subject)
}
`,
} as const
