/** The single page leaves the models out: it is sent by mail, and they are larger than it. The reader may drop their files on it. */
export const shippedFiles = (): null => null;
