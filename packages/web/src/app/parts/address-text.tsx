import { Fragment } from "preact"

/** An address that wraps after a dot, an at sign or a slash where it can, so that names stay whole. */
export function AddressText({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/(?<=[.@/])(?=[^/])/).map((part, index) => (
        <Fragment key={index}>
          {index === 0 ? null : <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  )
}
