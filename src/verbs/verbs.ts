// The verbs as those above see them: what is addressed, the parameters of the request, its body and who asks go in, an
// answer comes out. What the parameters say is read here; what is done about it stands in the file of each verb.

import type { Awaitable } from '../base/awaitable.js'
import { decodeCbor } from '../codec/cbor.js'
import { CodecError } from '../codec/codec-error.js'
import { decodeJson } from '../codec/json.js'
import { decodeYaml } from '../codec/yaml.js'
import { badRequest, unsupportedMediaType } from '../meta/errors/status.js'
import { parseGetOptions, parseListOptions } from '../meta/options/list-options.js'
import {
  checkDeleteCollectionOptions,
  type DeleteOptions,
  decodeDeleteOptions,
  parseCreateOptions,
  parseDeleteOptions,
  parsePatchOptions,
  parseUpdateOptions,
} from '../meta/options/write-options.js'
import type { Value } from '../meta/values/value.js'
import { BODY_TYPES, type Body } from '../request/body.js'
import { type Target } from '../request/target.js'
import { type UserInfo } from '../request/user-info.js'
import { decodeObject, openEnvelope, ProtobufError } from '../types/protobuf.js'
import { builtinTypes } from '../types/type-table.js'
import { type ApiContext } from './api-context.js'
import { getObject } from './read/get.js'
import { listObjects } from './read/list.js'
import { type PreparedWatch, prepareWatch } from './read/watch.js'
import type { ListResult, Result } from './result.js'
import { applyScale, getScale, patchScale, updateScale } from './subresources/scale.js'
import { applyObject } from './write/apply.js'
import { createObject } from './write/create.js'
import { deleteObject } from './write/delete.js'
import { deleteCollection } from './write/delete-collection.js'
import { patchObject } from './write/patch.js'
import { APPLY_TYPES, PATCH_KINDS, patchTypesOf } from './write/patch-types.js'
import { updateObject } from './write/update.js'

/** Faults are thrown, as StatusErrors. */
export interface Verbs {
  get(target: Target, query: URLSearchParams): Awaitable<Result>
  list(target: Target, query: URLSearchParams): Promise<ListResult>
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

export type Write = (target: Target, query: URLSearchParams, body: Body, user: UserInfo) => Promise<Result>

export function createVerbs(context: ApiContext): Verbs {
  return {
    get: (target, query) =>
      (target.subresource === 'scale' ? getScale : getObject)(context, target, parseGetOptions(query)),
    list: async (target, query) => listObjects(context, target, parseListOptions(query)),
    watch: async (target, query) => prepareWatch(context, target, parseListOptions(query)),
    create: async (target, query, body, user) => createObject(context, target, parseCreateOptions(query), body, user),
    async update(target, query, body, user) {
      const write = target.subresource === 'scale' ? updateScale : updateObject
      return write(context, target, parseUpdateOptions(query), body, user)
    },
    async patch(target, query, body, user) {
      const kind = PATCH_KINDS[body.mediaType]
      if (kind) {
        const write = target.subresource === 'scale' ? patchScale : patchObject
        return write(context, target, parsePatchOptions(query, false), kind, body.bytes, user)
      }
      if (APPLY_TYPES.includes(body.mediaType)) {
        const apply = target.subresource === 'scale' ? applyScale : applyObject
        return apply(context, target, parsePatchOptions(query, true), body, user)
      }
      throw unsupportedMediaType(patchTypesOf(target))
    },
    delete: async (target, query, body, user) => deleteObject(context, target, readDeleteOptions(query, body), user),
    async deleteCollection(target, query, body, user) {
      const listOptions = parseListOptions(query)
      const options = readDeleteOptions(query, body)
      checkDeleteCollectionOptions(options)
      return deleteCollection(context, target, listOptions, options, user)
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
