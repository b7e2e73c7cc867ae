# Writes OUT, the reports' app as one HTML file; an empty file where node or npm is missing or npm cannot
# fetch what package-lock.json names. Reports are left out of hone then, nothing else.
#   cmake -DWEB=src/report/web -DOUT=report.html -P bundle.cmake
set(modules ${WEB}/node_modules/.package-lock.json)

function(leave_out why)
  message("hone is built without reports: ${why}")
  file(WRITE ${OUT} "")
endfunction()

find_program(node node)
find_program(npm npm)
if(NOT node OR NOT npm)
  leave_out("there is no node or npm here; setup/install brings them")
  return()
endif()
if(NOT EXISTS ${modules} OR ${WEB}/package-lock.json IS_NEWER_THAN ${modules})
  # Build folders share the source tree.
  file(LOCK ${WEB}/node_modules.lock TIMEOUT 600)
  if(NOT EXISTS ${modules} OR ${WEB}/package-lock.json IS_NEWER_THAN ${modules})
    execute_process(COMMAND ${npm} ci --no-fund --no-audit --loglevel=error WORKING_DIRECTORY ${WEB}
                    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 300)
    if(failed)
      leave_out("npm could not fetch their libraries:\n${said}")
      return()
    endif()
    file(TOUCH ${modules})
  endif()
endif()
execute_process(COMMAND ${node} ${WEB}/bundle.mjs ${OUT} RESULT_VARIABLE failed ERROR_VARIABLE said)
if(failed)
  message(FATAL_ERROR "the reports' app cannot be bundled:\n${said}")
endif()
