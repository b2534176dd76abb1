import { describe, expect, test } from "bun:test"
import { findSections } from "./find-sections.ts"
import { toSlug } from "./to-slug.ts"

const page = {
  name: "blobs",
  title: "Blobs",
  group: "Write vals",
  text: `# Blobs

Texts and files under a key.

## Limits of \`blob\`

A key has at most **512** bytes.

\`\`\`sh
# not a heading, about limits
\`\`\`

## Lists

See [limits](#limits).
`,
}

describe("findSections", () => {
  test("puts sections with a word of the query in their title first", () => {
    expect(findSections([page], "limits").map(({ href }) => href)).toEqual([
      "/docs/blobs#limits-of-blob",
      "/docs/blobs#lists",
    ])
  })

  test("wants every word, in any case, and shows the line that has one", () => {
    expect(findSections([page], "BYTES key")).toEqual([
      {
        page,
        title: "Limits of blob",
        href: "/docs/blobs#limits-of-blob",
        line: "A key has at most 512 bytes.",
      },
    ])
    expect(findSections([page], "bytes nothing")).toEqual([])
    expect(findSections([page], "  ")).toEqual([])
  })

  test("links to the page itself for what stands before its first part", () => {
    expect(findSections([page], "texts").map(({ href }) => href)).toEqual(["/docs/blobs"])
  })
})

test("toSlug names headings as links in Markdown do", () => {
  expect(toSlug("What a val sees: `Deno.env`, and more")).toBe("what-a-val-sees-denoenv-and-more")
})
