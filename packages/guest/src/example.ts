/**
 * TypeScript with types, so that Deno's compiler has run once, and with what most vals do first.
 */
export const exampleCode = `
interface Greeting { readonly text: string }
export default async function (request: Request): Promise<Response> {
  const greeting: Greeting = { text: "hello" }
  await null
  console.log("%s", greeting.text, { url: request.url, method: request.method, at: new Date() })
  return Response.json(greeting, { headers: { "x-example": request.headers.get("host") ?? "" } })
}`
