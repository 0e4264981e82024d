// The format of a response: an encoding, and the kind that objects are converted to, such as Table.

export type Encoding = 'json' | 'yaml' | 'protobuf' | 'cbor'

export interface OutputFormat {
  readonly encoding: Encoding
  /** Undefined if objects are not converted. */
  readonly as: ShownAs | undefined
  /** With line breaks and indentation; only for JSON. */
  readonly pretty: boolean
}

/** A kind to convert objects to: Table, PartialObjectMetadata or its list. */
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

/** The media types of watches. There is none for YAML. */
export const WATCH_TYPES: Readonly<Record<Encoding, string | undefined>> = {
  json: 'application/json',
  yaml: undefined,
  protobuf: 'application/vnd.kubernetes.protobuf;stream=watch',
  cbor: 'application/cbor-seq',
}

export const PLAIN_JSON: OutputFormat = { encoding: 'json', as: undefined, pretty: false }
