// Typed access to the fields of a CustomResourceDefinition. The object has been decoded by its type before, so that
// every field has the right type; lists may still be null.
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { isObject, type ValueObject } from '../meta/values/value.js'
import type { ClientConfig } from '../webhook/client-config.js'

export interface DefinitionSpec {
  readonly group: string
  readonly names: DefinitionNames
  readonly scope: string
  readonly versions?: readonly VersionSpec[] | null
  readonly conversion?: ConversionSpec
  readonly preserveUnknownFields?: boolean
}

export interface DefinitionNames {
  readonly plural: string
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly kind: string
  readonly listKind?: string
  readonly categories?: readonly string[]
}

export interface VersionSpec {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated?: boolean
  readonly deprecationWarning?: string
  readonly schema?: {
    readonly openAPIV3Schema?: ValueObject
    /** The same as it is stored, if it is decoded only when it is needed. */
    readonly written?: Uint8Array
  }
  readonly subresources?: SubresourcesSpec
  readonly additionalPrinterColumns?: readonly ColumnSpec[]
  readonly selectableFields?: readonly { readonly jsonPath: string }[]
}

export interface SubresourcesSpec {
  readonly status?: ValueObject
  readonly scale?: ScaleSpec
}

export interface ScaleSpec {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

export interface ColumnSpec {
  readonly name: string
  readonly type: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
  readonly jsonPath: string
}

export interface ConversionSpec {
  readonly strategy: string
  readonly webhook?: {
    readonly clientConfig?: ClientConfig
    readonly conversionReviewVersions?: readonly string[] | null
  }
}

export interface DefinitionStatus {
  readonly conditions?: readonly Condition[] | null
  readonly acceptedNames: DefinitionNames
  readonly storedVersions?: readonly string[] | null
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly lastTransitionTime?: string | null
  readonly reason?: string
  readonly message?: string
  readonly observedGeneration?: number
}

export const specOf = (definition: ApiObject): DefinitionSpec => definition['spec'] as unknown as DefinitionSpec

export const statusOf = (definition: ApiObject): DefinitionStatus =>
  isObject(definition['status']) ? (definition['status'] as unknown as DefinitionStatus) : NO_STATUS

const NO_STATUS: DefinitionStatus = { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: null }

export const versionsOf = (definition: ApiObject): readonly VersionSpec[] => specOf(definition).versions ?? []

export const isTrue = (definition: ApiObject, type: string): boolean =>
  (statusOf(definition).conditions ?? []).some(each => each.type === type && each.status === 'True')

/** The finalizer by which a definition that is to go waits for its objects. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

export const isTerminating = (definition: ApiObject): boolean => metaOf(definition).deletionTimestamp !== undefined
