// In which form a client wants an answer: an encoding, and what objects are to be shown as.

export type Encoding = 'json' | 'yaml' | 'protobuf' | 'cbor'

export interface Form {
  readonly encoding: Encoding
  /** Undefined where objects are shown as they are. */
  readonly as: ShownAs | undefined
  /** With line breaks and indentation, for people. Only JSON has a choice. */
  readonly pretty: boolean
}

/** Another kind to show objects as, for clients that know nothing of their own kind. */
export interface ShownAs {
  readonly kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  readonly apiVersion: 'meta.k8s.io/v1' | 'meta.k8s.io/v1beta1'
}

export const MEDIA_TYPES: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
  cbor: 'application/cbor',
}

/** What the events of a watch are sent as. YAML has no way to send one document after the other. */
export const WATCH_TYPES: Readonly<Record<Encoding, string | undefined>> = {
  json: 'application/json',
  yaml: undefined,
  protobuf: 'application/vnd.kubernetes.protobuf;stream=watch',
  cbor: 'application/cbor-seq',
}

export const PLAIN_JSON: Form = { encoding: 'json', as: undefined, pretty: false }
