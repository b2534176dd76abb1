import type { Page } from "playwright-core"

/** Changes settings of the server in the document at a path, as if the operator had set them. */
export async function changeSettings(
  page: Page,
  path: string,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  await page.route(`**${path}`, async (route) => {
    const response = await route.fetch()
    const body = Object.entries(changes).reduce(
      (html, [name, value]) =>
        html.replace(`&quot;${name}&quot;:null`, `&quot;${name}&quot;:&quot;${value}&quot;`),
      await response.text(),
    )
    await route.fulfill({ response, body })
  })
}
