import { z } from "zod"

/** The types of the npm packages of a version, in a layout in which TypeScript finds them. */
export const versionTypes = z
  .object({
    state: z
      .enum(["none", "pending", "ready", "failed"])
      .describe("The state of the lock; there are no types while it is pending"),
    imports: z
      .array(
        z.object({
          specifier: z.string().describe("The import as it is written"),
          resolved: z.string().nullable().describe("The import with its exact version"),
        }),
      )
      .describe("The imports of the version that are not vals"),
    files: z
      .array(
        z.object({
          path: z.string().describe("The path of the file"),
          text: z.string().describe("Its content"),
        }),
      )
      .describe(
        "Declarations, and each package.json with the fields by which TypeScript finds them",
      ),
    links: z
      .array(
        z.object({
          path: z.string().describe("The path of the link"),
          target: z.string().describe("The folder that it means, relative to its own folder"),
        }),
      )
      .describe(
        "Links to folders; imports/{name}@{version}/node_modules has one for each imported package",
      ),
  })
  .meta({ id: "VersionTypes" })

/** Code as `deno fmt` formats it. */
export const formattedCode = z
  .object({ code: z.string().describe("The formatted code") })
  .meta({ id: "FormattedCode" })
