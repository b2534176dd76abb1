import type { PackageCase } from "../package-case.ts"

/**
 * Frameworks of web servers. `listen` of a val means its web address. None is in the tests:
 * `reach/servers` and `reach/town-vals` run Express, Fastify and Hono.
 */
export const httpServers: readonly PackageCase[] = [
  {
    code: `import { Hono } from "npm:hono@4.13.17"
import { cors } from "npm:hono@4.13.17/cors"
const app = new Hono().use(cors()).get("/hello", (c) => c.text("hello " + c.req.query("name")))
Deno.serve({ port: Number(Deno.env.get("PORT") ?? 3000) }, app.fetch)`,
    responds: "hello Ada",
  },
  {
    code: `import express from "npm:express@5.3.0"
const app = express()
app.use(express.json())
app.get("/hello", (req, res) => res.set("x-by", "express").send("hello " + req.query.name))
app.listen(process.env.PORT ?? 3000)`,
    responds: "hello Ada",
  },
  {
    code: `import Koa from "npm:koa@3.2.1"
const app = new Koa()
app.use((context) => { context.body = "hello " + context.query.name })
app.listen(process.env.PORT ?? 3000)`,
    responds: "hello Ada",
  },
  {
    code: `import Fastify from "npm:fastify@5.12.8"
const app = Fastify()
app.get("/hello", async (request) => "hello " + request.query.name)
await app.listen({ port: Number(process.env.PORT ?? 3000) })`,
    responds: "hello Ada",
  },
  {
    code: `import Hapi from "npm:@hapi/hapi@21.4.10"
const server = Hapi.server({ port: process.env.PORT ?? 3000 })
server.route({ method: "GET", path: "/hello", handler: ({ query }) => "hello " + query.name })
await server.start()`,
    responds: "hello Ada",
  },
  {
    code: `import { graphql, buildSchema } from "npm:graphql@17.1.0"
export default async () => (await graphql({ schema: buildSchema("type Query { hello: String }"), source: "{ hello }", rootValue: { hello: () => "world" } })).data`,
    returns: { hello: "world" },
  },
  {
    code: `import { ApolloServer } from "npm:@apollo/server@5.5.1"
export default async () => {
  const server = new ApolloServer({ typeDefs: "type Query { hello: String }", resolvers: { Query: { hello: () => "world" } } })
  const { body } = await server.executeOperation({ query: "{ hello }" })
  await server.stop()
  return body.singleResult.data
}`,
    returns: { hello: "world" },
  },
  {
    code: `import { initTRPC } from "npm:@trpc/server@11.23.0"
import { fetchRequestHandler } from "npm:@trpc/server@11.23.0/adapters/fetch"
const t = initTRPC.create()
const router = t.router({ hello: t.procedure.query(() => "world") })
export default async () => (await (await fetchRequestHandler({ endpoint: "", router, req: new Request("http://x/hello") })).json()).result.data`,
    returns: "world",
  },
]
