# What a wheel of hone holds beside the Python package, included where scikit-build-core builds:
# bin/ with hone, hone-worker, hone-device, hone-learn and hone-loops where there are such, the library that runs
# kernels in JAX's XLA, the programs, the policies, and
# the module of the console script. The executables are built here or, with HONE_PREBUILT, taken along; so is
# the extension module, where prebuilt_core is one for this Python.
set(executables hone hone-worker hone-device)
if(HONE_PREBUILT)
  foreach(name hone-learn hone-loops)
    if(EXISTS ${HONE_PREBUILT}/${name})
      list(APPEND executables ${name})
    endif()
  endforeach()
  foreach(name IN LISTS executables)
    file(REAL_PATH ${name} path BASE_DIRECTORY ${HONE_PREBUILT})
    install(PROGRAMS ${path} DESTINATION hone/bin RENAME ${name})
  endforeach()
  if(EXISTS ${HONE_PREBUILT}/libhone_kernels.so)
    file(REAL_PATH libhone_kernels.so path BASE_DIRECTORY ${HONE_PREBUILT})
    install(FILES ${path} DESTINATION hone/bin)
  endif()
  if(EXISTS ${prebuilt_core})
    install(FILES ${prebuilt_core} DESTINATION hone)
  endif()
else()
  foreach(name hone-learn hone-loops)
    if(TARGET ${name})
      list(APPEND executables ${name})
    endif()
  endforeach()
  install(TARGETS ${executables} hone_kernels DESTINATION hone/bin)
endif()

# XLA is not in the wheel. The worker is started from a copy of its own beside the libraries in the user's
# cache folder (python/hone/fetch_xla.py), named by its hash, and finds them through a link there.
install(CODE [[
  set(bin "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/hone/bin")
  file(RPATH_SET FILE "${bin}/hone-worker" NEW_RPATH "$ORIGIN/xla")
  file(SHA256 "${bin}/hone-worker" hash)
  file(WRITE "${bin}/hone-worker.sha256" "${hash}\n")
]])
install(FILES ${PROJECT_SOURCE_DIR}/setup/xla.lock DESTINATION hone/bin)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data ${PROJECT_SOURCE_DIR}/policies DESTINATION hone)
install(FILES ${PROJECT_SOURCE_DIR}/python/hone_command.py DESTINATION .)
