/** The two channels between preload and main: invocations in, frames out. Frames cross as JSON text. */
export const INVOKE_CHANNEL = 'wheelhouse:invoke'
export const FRAME_CHANNEL = 'wheelhouse:frame'
