// The kinds that `server.client` knows the types of, by apiVersion and kind. Both interfaces are open: the package declares the
// built-in kinds (scripts/kind-types.mjs writes the declarations), and a test declares its custom ones:
//
//   declare module 'binnacle/testing' {
//     interface Kinds extends CustomKinds {}     // CustomKinds is part of what `binnacle crd types` prints
//   }

/** The type of the objects of each kind: `Kinds['apps/v1']['Deployment']`. */
// oxlint-disable-next-line typescript/no-empty-object-type, typescript/no-empty-interface -- it is open
export interface Kinds {}

/** The types of the subresources of each kind: `Subresources['v1']['Pod']['eviction']`. */
// oxlint-disable-next-line typescript/no-empty-object-type, typescript/no-empty-interface -- it is open
export interface Subresources {}

/** Any object of the API. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion?: string
    readonly uid?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
    readonly [field: string]: unknown
  }
  // oxlint-disable-next-line typescript/no-explicit-any -- the fields of any kind
  readonly [field: string]: any
}

/** What a type of objects must have at least. Reviews and the like have no metadata. */
export interface TypedObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: object
}

/** An object as the server answers it. */
export type Stored<T extends TypedObject> = T & {
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string }
}

/**
 * An object as it is written: apiVersion and kind follow from the client. A field that is always there when the object is read
 * may be left out if nothing in it is required.
 */
export type Written<T extends TypedObject, Metadata> = string extends keyof T
  ? // oxlint-disable-next-line typescript/no-explicit-any -- the fields of any kind
    { readonly metadata: Metadata; readonly [field: string]: any }
  : { readonly [K in Exclude<keyof T, Optional<T> | 'metadata'>]: T[K] } & {
      readonly [K in Optional<T>]?: T[K]
    } & (undefined extends T['metadata'] ? { readonly metadata?: Metadata } : { readonly metadata: Metadata })

type Optional<T> = {
  // oxlint-disable-next-line typescript/no-empty-object-type -- whether an empty object would do
  [K in keyof T]-?: K extends 'apiVersion' | 'kind' | 'status'
    ? K
    : {} extends Pick<T, K>
      ? K
      : {} extends T[K]
        ? K
        : never
}[keyof T]

/** An object to create: with a name, or a beginning that the server completes. */
export type Created<T extends TypedObject> = Written<
  T,
  Partial<NonNullable<T['metadata']>> & ({ readonly name: string } | { readonly generateName: string })
>

/** An object to update or apply. */
export type Named<T extends TypedObject> = Written<T, NonNullable<T['metadata']> & { readonly name: string }>

/** A JSON merge patch: null removes a field. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: MergePatch<T[K]> | null }
    : T
