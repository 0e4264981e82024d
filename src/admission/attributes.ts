// What admission is shown of a write.
import type { ApiObject } from '../meta/object/api-object.js'
import type { DeleteOptions, WriteOptions } from '../meta/options/write-options.js'
import type { Target } from '../request/target.js'
import type { UserInfo } from '../request/user-info.js'

/** What is about to happen to an object. */
export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly target: Target
  /** Undefined when it is about to be deleted. */
  readonly object: ApiObject | undefined
  readonly old: ApiObject | undefined
  readonly options: WriteOptions | DeleteOptions
  readonly user: UserInfo
}

/** Others who have a say in what is written. Both may add warnings, and refuse with a StatusError. */
export interface Admission {
  /** May change the object. */
  admit(request: AdmissionRequest & { readonly object: ApiObject }, warnings: string[]): Promise<ApiObject>
  /** Sees what is about to be stored. */
  validate(request: AdmissionRequest, warnings: string[]): Promise<void>
  /** Refuses what is only allowed to those who may do this, too. */
  permit(verb: string, target: Target, user: UserInfo): Promise<void>
}
