// What admission reads of a request: the operation, the resource it addresses, and the objects before and after it.

import type { Awaitable } from '../base/awaitable.js'
import { allOf, andThen } from '../base/awaitable.js'
import type { Cancellation } from '../base/cancellation.js'
import type { Kind } from '../kinds/kind.js'
import { forbidden, type StatusError } from '../meta/errors/status.js'
import type { GroupResource, GroupVersionKind } from '../meta/group-version.js'
import { printGroupVersion } from '../meta/group-version.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import type { DeleteOptions, WriteOptions } from '../meta/options/write-options.js'
import type { RequestWithOptions } from '../request/request.js'
import type { Target } from '../request/target.js'

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The request, with the options of its verb. */
export type AdmittedRequest = RequestWithOptions<WriteOptions | DeleteOptions>

export interface Attributes {
  readonly request: AdmittedRequest
  readonly operation: Operation
  /** The resource that the request addresses. Its kind need not be `kind`: the body of a pods/binding is a Binding. */
  readonly resource: GroupResource
  /** The API version of the resource in the path. */
  readonly version: string
  /** Empty for the object itself. */
  readonly subresource: string
  /** Empty at the cluster scope. */
  readonly namespace: string
  /** Empty for a create whose name is generated later. */
  readonly name: string
  /** The name in the path; empty for a POST to the collection. */
  readonly pathName: string
  /** The kind of `object`, or of `oldObject` on DELETE. */
  readonly kind: GroupVersionKind
  /** Undefined on DELETE; the options object on CONNECT. */
  readonly object: ApiObject | undefined
  readonly oldObject: ApiObject | undefined
  /** The stored kind behind the resource; undefined for resources that are not stored. */
  readonly storedKind: Kind | undefined
  readonly reinvocation: Reinvocation
  /** Both objects in another version of their kind. Converted once, and again only after the object has changed. */
  inVersion(version: GroupVersionKind): Awaitable<VersionedObjects>
  /** The same request with the object as a plugin has changed it. */
  withObject(object: ApiObject): Attributes
}

export interface VersionedObjects {
  readonly object: ApiObject | undefined
  readonly oldObject: ApiObject | undefined
}

/** Whether the mutating plugins run a second time, because a plugin changed an object that earlier ones have seen. */
export interface Reinvocation {
  /** True while they run the second time. */
  readonly isReinvoke: boolean
  readonly isRequested: boolean
  /** Asks for the second run. */
  request(): void
  /** What a plugin keeps between the two runs. */
  slot<T>(plugin: string, create: () => T): T
  /** To be called between the two runs. */
  begin(): void
}

/** What attributes are made of; the rest follows from it. */
export interface AttributesInit {
  readonly request: AdmittedRequest
  readonly operation: Operation
  readonly target: AdmittedTarget
  /** Where it is not the kind of the resource. */
  readonly kind?: GroupVersionKind | undefined
  readonly object: ApiObject | undefined
  readonly oldObject: ApiObject | undefined
}

/** A stored kind or a resource that is not stored, with the place of the object. */
export type AdmittedTarget = Target | VirtualAdmissionTarget

export interface VirtualAdmissionTarget {
  readonly resource: GroupResource
  /** The API version of the resource. */
  readonly version: string
  readonly namespace: string
  readonly name: string
  readonly subresource: string
}

/** In another version, with everything that the converter leaves: the schema of that version removes nothing. */
export const convertForAdmission = (
  kind: Kind,
  object: ApiObject,
  to: string,
  cancellation?: Cancellation,
): Awaitable<ApiObject> => kind.convertUnpruned?.(object, to, cancellation) ?? kind.convert(object, to, cancellation)

export const createAttributes = (init: AttributesInit): Attributes => new RequestAttributes(init, new OneReinvocation())

/** A class, since one is made for every write: its members are computed when a plugin reads them. */
class RequestAttributes implements Attributes {
  readonly request: AdmittedRequest
  readonly operation: Operation
  readonly object: ApiObject | undefined
  private converted: Map<string, Awaitable<VersionedObjects>> | undefined
  private groupResource: GroupResource | undefined
  private ownKind: GroupVersionKind | undefined

  constructor(
    private readonly init: AttributesInit,
    readonly reinvocation: Reinvocation,
  ) {
    this.request = init.request
    this.operation = init.operation
    this.object = init.object
  }

  /** The old object of a delete may be decoded when it is read. */
  get oldObject(): ApiObject | undefined {
    return this.init.oldObject
  }

  get storedKind(): Kind | undefined {
    return 'kind' in this.init.target ? this.init.target.kind : undefined
  }

  get resource(): GroupResource {
    const { target } = this.init
    if (!('kind' in target)) return target.resource
    return (this.groupResource ??= { group: target.kind.group, resource: target.kind.names.plural })
  }

  get version(): string {
    const { target } = this.init
    return 'kind' in target ? target.version.name : target.version
  }

  get subresource(): string {
    return this.init.target.subresource
  }

  get namespace(): string {
    return this.init.target.namespace
  }

  get name(): string {
    // The objects of a deletecollection are deleted one by one, but the request names none of them.
    if (this.request.info.verb === 'deletecollection') return ''
    return this.init.target.name || ((this.object && metaOf(this.object).name) ?? '')
  }

  get pathName(): string {
    return this.init.target.name
  }

  get kind(): GroupVersionKind {
    const { kind, target } = this.init
    if (kind) return kind
    if ('kind' in target) {
      const { group, names } = target.kind
      return (this.ownKind ??= { group, version: target.version.name, kind: names.kind })
    }
    throw new Error(`admission of ${target.resource.resource} needs the kind of the object`)
  }

  inVersion(version: GroupVersionKind): Awaitable<VersionedObjects> {
    const { storedKind, kind, object, oldObject } = this
    if (kind.version === version.version && kind.group === version.group) return { object, oldObject }
    if (!storedKind || kind.kind !== storedKind.names.kind) return { object, oldObject }
    const apiVersion = printGroupVersion(version)
    const converted = this.converted?.get(apiVersion)
    if (converted) return converted
    const convert = (each: ApiObject | undefined): Awaitable<ApiObject | undefined> =>
      each && convertForAdmission(storedKind, each, apiVersion)
    const both = andThen(allOf([convert(object), convert(oldObject)]), ([now, before]) => ({
      object: now,
      oldObject: before,
    }))
    this.converted ??= new Map()
    this.converted.set(apiVersion, both)
    return both
  }

  withObject(object: ApiObject): Attributes {
    return new RequestAttributes({ ...this.init, object }, this.reinvocation)
  }
}

class OneReinvocation implements Reinvocation {
  isReinvoke = false
  isRequested = false
  private slots: Map<string, unknown> | undefined

  request(): void {
    this.isRequested = true
  }

  slot<T>(plugin: string, create: () => T): T {
    this.slots ??= new Map()
    if (!this.slots.has(plugin)) this.slots.set(plugin, create())
    return this.slots.get(plugin) as T
  }

  begin(): void {
    this.isReinvoke = true
  }
}

/** The 403 of a plugin. Before a name is generated, the message has the prefix in its place. */
export function forbiddenBy({ name, object, resource }: Attributes, why: string): StatusError {
  const { generateName = '' } = object ? metaOf(object) : {}
  return forbidden(resource, name || generateName || 'Unknown', why)
}

/** How much of a reason is logged: that of a webhook or an expression may be long. */
const MAX_LOGGED = 1000

export const loggedReason = (reason: string): string =>
  reason.length > MAX_LOGGED ? `${reason.slice(0, MAX_LOGGED)}…` : reason
