// What authorization is asked about.

/** What is to be done, to what. */
export type AccessAttributes =
  | {
      readonly verb: string
      readonly group: string
      readonly resource: string
      /** Empty for the resource itself. */
      readonly subresource: string
      /** Empty at the cluster scope. */
      readonly namespace: string
      readonly name: string
    }
  | { readonly verb: string; readonly path: string }
