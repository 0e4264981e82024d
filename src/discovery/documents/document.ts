// A discovery document in each encoding, created on first use and cached.

import type { ValueObject } from '../../meta/values/value.js'
import { encodeValue } from '../../response/encode-value.js'
import type { OutputFormat } from '../../response/output-format.js'
import { encodeMessage, sealEnvelope } from '../../types/protobuf.js'
import { discoveryTypes } from './aggregated-types.js'

export interface Document {
  bytes(format: Pick<OutputFormat, 'encoding' | 'pretty'>): Buffer
}

/** `json` is given for documents whose JSON is not created from values. */
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

function encodeDocument(value: ValueObject, format: Pick<OutputFormat, 'encoding' | 'pretty'>): Buffer {
  if (format.encoding !== 'protobuf') return encodeValue(value, format)
  const { apiVersion = '', kind } = value as { apiVersion?: string; kind: string }
  // Documents about the core group have no version in their envelope.
  const type = discoveryTypes().ofKind(apiVersion || 'v1', kind)!
  return sealEnvelope(apiVersion, kind, encodeMessage(type, value))
}
