// The verbs as those above see them: what is addressed, the parameters of the request, its body and who asks go in, an
// answer comes out. What the parameters say is read here; what is done about it stands in the file of each verb.

import { ProtobufError } from '../builtin/protobuf.js'
import { decodeObject, openEnvelope } from '../builtin/protobuf-envelope.js'
import { builtinTypes } from '../builtin/type-table.js'
import { decodeCbor } from '../codec/cbor-decode.js'
import { CodecError } from '../codec/codec-error.js'
import { decodeJson } from '../codec/json-decode.js'
import { decodeYaml } from '../codec/yaml-decode.js'
import type { Awaitable } from '../meta/awaitable.js'
import { parseGetOptions, parseListOptions } from '../meta/list-options.js'
import { badRequest, unsupportedMediaType } from '../meta/status.js'
import type { Value } from '../meta/value.js'
import {
  checkDeleteCollectionOptions,
  type DeleteOptions,
  decodeDeleteOptions,
  parseCreateOptions,
  parseDeleteOptions,
  parsePatchOptions,
  parseUpdateOptions,
} from '../meta/write-options.js'
import type { Answer, ListAnswer } from './answer.js'
import { applyObject } from './apply.js'
import { BODY_TYPES, type Body } from './body.js'
import { createObject } from './create.js'
import { deleteObject } from './delete.js'
import { deleteCollection } from './delete-collection.js'
import { getObject } from './get.js'
import { listObjects } from './list.js'
import { patchObject } from './patch.js'
import { APPLY_TYPES, PATCH_KINDS, patchTypesOf } from './patch-types.js'
import type { Caller, ResourceContext, Target } from './resource-context.js'
import { applyScale, getScale, patchScale, updateScale } from './scale.js'
import { updateObject } from './update.js'
import { type PreparedWatch, prepareWatch } from './watch.js'

/** Faults are thrown, as StatusErrors. */
export interface Verbs {
  get(target: Target, query: URLSearchParams): Awaitable<Answer>
  list(target: Target, query: URLSearchParams): Promise<ListAnswer>
  /** Checks what it can before the watch begins. */
  watch(target: Target, query: URLSearchParams): Promise<PreparedWatch>
  create: Write
  update: Write
  /** The media type of the body says what kind of patch it is. */
  patch: Write
  /** An empty body leaves the options to the parameters. */
  delete: Write
  deleteCollection: Write
}

export type Write = (target: Target, query: URLSearchParams, body: Body, caller: Caller) => Promise<Answer>

export function createVerbs(context: ResourceContext): Verbs {
  return {
    get: (target, query) =>
      (target.subresource === 'scale' ? getScale : getObject)(context, target, parseGetOptions(query)),
    list: async (target, query) => listObjects(context, target, parseListOptions(query)),
    watch: async (target, query) => prepareWatch(context, target, parseListOptions(query)),
    create: async (target, query, body, caller) =>
      createObject(context, target, parseCreateOptions(query), body, caller),
    async update(target, query, body, caller) {
      const write = target.subresource === 'scale' ? updateScale : updateObject
      return write(context, target, parseUpdateOptions(query), body, caller)
    },
    async patch(target, query, body, caller) {
      const kind = PATCH_KINDS[body.mediaType]
      if (kind) {
        const write = target.subresource === 'scale' ? patchScale : patchObject
        return write(context, target, parsePatchOptions(query, false), kind, body.bytes, caller)
      }
      if (APPLY_TYPES.includes(body.mediaType)) {
        const apply = target.subresource === 'scale' ? applyScale : applyObject
        return apply(context, target, parsePatchOptions(query, true), body, caller)
      }
      throw unsupportedMediaType(patchTypesOf(target))
    },
    delete: async (target, query, body, caller) =>
      deleteObject(context, target, readDeleteOptions(query, body), caller),
    async deleteCollection(target, query, body, caller) {
      const listOptions = parseListOptions(query)
      const options = readDeleteOptions(query, body)
      checkDeleteCollectionOptions(options)
      return deleteCollection(context, target, listOptions, options, caller)
    },
  }
}

function readDeleteOptions(query: URLSearchParams, body: Body): DeleteOptions {
  return body.bytes.length === 0 ? parseDeleteOptions(query) : decodeDeleteOptions(decodeOptions(body))
}

const NO_TYPE_IN_JSON = "couldn't get version/kind; json parse error: "
const NO_TYPE_IN_CBOR = 'unable to determine group/version/kind: '

function decodeOptions({ bytes, mediaType }: Body): Value {
  try {
    switch (mediaType) {
      case '':
      case 'application/json':
        return decodeJson(bytes).value
      case 'application/yaml':
        return decodeYaml(bytes).value
      case 'application/cbor':
        return decodeCbor(bytes).value
      case 'application/vnd.kubernetes.protobuf': {
        const defaults = { apiVersion: 'v1', kind: 'DeleteOptions' }
        return decodeObject(builtinTypes(), openEnvelope(bytes), defaults)
      }
      default:
        throw unsupportedMediaType(BODY_TYPES)
    }
  } catch (error) {
    if (error instanceof ProtobufError) throw badRequest(error.message)
    if (!(error instanceof CodecError)) throw error
    const isJson = mediaType === '' || mediaType === 'application/json'
    throw badRequest(
      `${isJson ? NO_TYPE_IN_JSON : mediaType === 'application/cbor' ? NO_TYPE_IN_CBOR : ''}${error.message}`,
    )
  }
}
