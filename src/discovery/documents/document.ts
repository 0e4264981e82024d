// A discovery document, in each of the encodings that a client may ask for. It is made when it is first asked for, and
// kept.

import type { ValueObject } from '../../meta/values/value.js'
import { encodeValue } from '../../response/encode-value.js'
import type { Form } from '../../response/output-format.js'
import { encodeMessage, sealEnvelope } from '../../types/protobuf.js'
import { discoveryTypes } from './aggregated-types.js'

export interface Document {
  bytes(form: Pick<Form, 'encoding' | 'pretty'>): Buffer
}

/** `json` is there for documents that have their JSON without being made of values. */
export function createDocument(value: () => ValueObject, json?: () => Buffer): Document {
  const kept = new Map<string, Buffer>()
  return {
    bytes({ encoding, pretty }) {
      const name = pretty ? `pretty ${encoding}` : encoding
      let bytes = kept.get(name)
      if (!bytes) {
        bytes = json && name === 'json' ? json() : encodeDocument(value(), { encoding, pretty })
        kept.set(name, bytes)
      }
      return bytes
    },
  }
}

function encodeDocument(value: ValueObject, form: Pick<Form, 'encoding' | 'pretty'>): Buffer {
  if (form.encoding !== 'protobuf') return encodeValue(value, form)
  const { apiVersion = '', kind } = value as { apiVersion?: string; kind: string }
  // Documents about the core group have no version in their envelope either.
  const type = discoveryTypes().ofKind(apiVersion || 'v1', kind)!
  return sealEnvelope(apiVersion, kind, encodeMessage(type, value))
}
