// The attributes by which a request is authorized.

/** The verb, and the resource or the path. */
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
