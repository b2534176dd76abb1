import { useEffect, useMemo } from "preact/hooks"

/** Shown through an object URL: an image may be too long for a data URL. */
export function Picture({ content, alt }: { content: Blob; alt: string }) {
  const url = useMemo(() => URL.createObjectURL(content), [content])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return <img class="picture" src={url} alt={alt} />
}
