const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M1 14V8l4.5-4.5L9 7l2-2 4 4v5z" fill="#0f766e"/></svg>`

/** The parts of a document, as HTML. */
interface DocumentParts {
  readonly title: string
  readonly metaTags: string
  /** Styles and scripts. */
  readonly assetTags: string
  /** What a reader without JavaScript can do. */
  readonly noScript: string
}

/** An HTML document whose scripts render the page. */
export function toDocument({ title, metaTags, assetTags, noScript }: DocumentParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${metaTags}
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(icon)}">
${assetTags}
</head>
<body>
<div id="app"></div>
<noscript><p class="noscript">${noScript}</p></noscript>
</body>
</html>
`
}
