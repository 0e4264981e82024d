// The one place where the pipeline calls admission.

import { type AttributesInit, createAttributes } from '../../admission/attributes.js'
import type { Awaitable } from '../../base/awaitable.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import type { PipelineEnv } from './pipeline-env.js'

/** Runs the mutating phase: the changed object, or undefined if no plugin has changed it. */
export const mutate = ({ admission }: PipelineEnv, init: AttributesInit): Awaitable<ApiObject | undefined> =>
  admission.mutate(createAttributes(init))

/** Runs the validating phase. */
export const validate = ({ admission }: PipelineEnv, init: AttributesInit): Awaitable<void> =>
  admission.validate(createAttributes(init))
